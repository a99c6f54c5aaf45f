/**
 * The declarations of the packages, as the compiler of an application reads them.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installAll, installMsMax, root, runBy } from './install.ts'

const client = `import { CofferError, createClient, type Client, type Token } from 'coffer/client'
import { createClient as createOwn, type Token as OwnToken } from '@coffer/client'
export const sameToken = (token: OwnToken): Token => token
export const sameClient: typeof createClient = createOwn
const client: Client = createClient({ address: 'http://127.0.0.1', key: 'key_a' })
export async function last4(id: string): Promise<string | undefined> {
  const token: Token<{ number: string }> = await client.tokens.get(id)
  for await (const { type } of client.tokens.list({ type: ['card'] })) console.log(type)
  return token.data?.number.slice(-4)
}
// @ts-expect-error: there is no such type
export const wrong = () => client.tokens.create({ type: 'cart', data: 1 })
// @ts-expect-error: data is missing
export const missing = () => client.tokens.create({ type: 'card' })
export const codeOf = (error: unknown) => (error instanceof CofferError ? error.code : '')`

const fields = `import { ElementsError, mountCard } from 'coffer/elements'
import type { CardElement, CardToken, Styles } from 'coffer/elements'
import { mountCard as mountOwn } from '@coffer/elements'
export const same: typeof mountCard = mountOwn
const address = 'https://vault.example'
const styles = {
  input: { color: 'red', 'border-radius': '4px' },
  label: { fontSize: '14px' },
}
const card: CardElement = mountCard(document.body, { address, key: () => 'key_a', styles })
export const token = (): Promise<CardToken> => card.tokenize({ metadata: { order: '17' } })
// @ts-expect-error: an expression could tell the code
export const leak = () => card.tokenize({ id: '{{ data.cvc }}' })
// @ts-expect-error: there is no such property
export const typo: Styles = { input: { fontSizes: '14px' } }
// @ts-expect-error: a text with its unit
export const bare: Styles = { input: { fontSize: 14 } }
// @ts-expect-error: the key is missing
export const keyless = () => mountCard('#card', { address })
export const fieldsOf = (error: unknown) =>
  error instanceof ElementsError ? error.fields : []`

const react = `import { useRef } from 'react'
import { CardFields, ElementsError, type CardFieldsHandle } from 'coffer/elements/react'
import type { CofferCard } from 'coffer/elements/element'
export function Checkout({ apiKey }: { readonly apiKey: string }) {
  const card = useRef<CardFieldsHandle>(null)
  const pay = async () => (await card.current?.tokenize())?.id
  return (
    <form onSubmit={pay}>
      <CardFields
        ref={card}
        address="https://vault.example"
        apiKey={apiKey}
        colorScheme="dark"
        styles={{ input: { borderRadius: '4px' } }}
        style={{ margin: 8 }}
        onError={error => console.log(error instanceof ElementsError && error.fields)}
      />
    </form>
  )
}
// @ts-expect-error: the key has another name here
export const wrong = <CardFields address="https://vault.example" key="key_a" />
const element = document.querySelector('coffer-card') as Element & CofferCard
element.apiKey = async () => 'key_a'
export const token = element.tokenize({ metadata: { order: '17' } })`

const server = `import { coffer, openVault, type Coffer } from 'coffer'
import { startVault, type TestVault } from 'coffer/testing'
export async function start(): Promise<TestVault> {
  const vault = await startVault({ settings: { basePath: '/vault' } })
  // @ts-expect-error: a number or a text
  vault.clock.advance(new Date())
  return vault
}
export async function mount(): Promise<Coffer> {
  return coffer((await openVault({ data: 'vault' })).deps)
}`

const files = {
  'client.ts': client,
  'fields.ts': fields,
  'react.tsx': react,
  'server.ts': server,
}
const inPage = { module: 'ESNext', moduleResolution: 'bundler', jsx: 'react-jsx' }
const inNode = { module: 'NodeNext', moduleResolution: 'NodeNext' }
/** The compiler's own declarations take it longer than all else. */
const checked = { skipDefaultLibCheck: true }

let home: string

beforeAll(async () => {
  home = (await installAll()).folder
  const types = ['react@19.3.1', '@types/react@19.3.0']
  const command = ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', ...types]
  const { exitCode, stderr } = await runBy(home, command)
  if (exitCode !== 0) throw new Error(stderr)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text)
}, installMsMax)

describe('its types compile', () => {
  test.concurrent.each([
    [
      'of the client, the fields, the element and the component in a page',
      'page',
      {
        options: { ...inPage, ...checked },
        files: ['client.ts', 'fields.ts', 'react.tsx'],
      },
    ],
    [
      'of the client in Node.js',
      'node',
      {
        options: { ...inNode, ...checked },
        files: ['client.ts'],
      },
    ],
    [
      'of the vault inside a test and of the plugin',
      'server',
      {
        options: { ...inPage, lib: ['ESNext', 'DOM'], skipLibCheck: true },
        files: ['server.ts'],
      },
    ],
  ] as const)(
    '%s',
    async (_, name, { options, files }) => {
      const project = join(home, `tsconfig.${name}.json`)
      const common = { strict: true, noEmit: true, target: 'ES2022', types: [] }
      const compilerOptions = { ...common, lib: ['ES2022', 'DOM'], ...options }
      writeFileSync(project, JSON.stringify({ compilerOptions, files }))
      const compile = [join(root, 'node_modules/.bin/tsc'), '--project', project]
      expect(await runBy(home, compile)).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    },
    300_000,
  )
})
