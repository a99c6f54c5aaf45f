/**
 * The declarations of the packages, as the compiler of an application reads them.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packages } from '../../scripts/pack/packages.ts'
import { installInto, installMsMax, root, runBy } from './install.ts'

let home: string

const run = (command: readonly string[]) => runBy(home, command)

const write = (name: string, text: string): void => writeFileSync(join(home, name), text)

beforeAll(async () => {
  home = (await installInto(packages.map(({ name }) => name))).folder
}, installMsMax)

describe('its types', () => {
  const strict = (more: object, files: readonly string[]) =>
    JSON.stringify({
      compilerOptions: { strict: true, noEmit: true, target: 'ES2022', types: [], ...more },
      files,
    })
  const compile = () => run([join(root, 'node_modules/.bin/tsc'), '--project', 'tsconfig.json'])

  test.each([
    ['a page', { module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM'] }],
    ['Node.js', { module: 'NodeNext', moduleResolution: 'NodeNext', lib: ['ES2022', 'DOM'] }],
  ])(
    'of the client compile in %s, with its declarations checked',
    async (_, options) => {
      write(
        'client.ts',
        `import { CofferError, createClient, type Client, type Token } from 'coffer/client'
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
      export const codeOf = (error: unknown) => (error instanceof CofferError ? error.code : '')`,
      )
      write('tsconfig.json', strict(options, ['client.ts']))
      expect(await compile()).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    },
    60_000,
  )

  test('of the card fields compile in a page, with its declarations checked', async () => {
    write(
      'page.ts',
      `import { ElementsError, mountCard } from 'coffer/elements'
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
        error instanceof ElementsError ? error.fields : []`,
    )
    const options = { module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM'] }
    write('tsconfig.json', strict(options, ['page.ts']))
    expect(await compile()).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  }, 60_000)

  test('of the component and of the element compile, with the types of React', async () => {
    const packages = ['react@19.3.1', '@types/react@19.3.0']
    const installed = await run(['npm', 'install', '--no-audit', '--no-fund', ...packages])
    expect([installed.exitCode, installed.exitCode === 0 ? '' : installed.stderr]).toEqual([0, ''])
    write(
      'checkout.tsx',
      `import { useRef } from 'react'
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
      export const token = element.tokenize({ metadata: { order: '17' } })`,
    )
    const options = {
      module: 'ESNext',
      moduleResolution: 'bundler',
      lib: ['ES2022', 'DOM'],
      jsx: 'react-jsx',
    }
    write('tsconfig.json', strict(options, ['checkout.tsx']))
    expect(await compile()).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  }, 120_000)

  test('of the vault inside a test and of the plugin compile', async () => {
    write(
      'server.ts',
      `import { coffer, openVault, type Coffer } from 'coffer'
      import { startVault, type TestVault } from 'coffer/testing'
      export async function start(): Promise<TestVault> {
        const vault = await startVault({ settings: { basePath: '/vault' } })
        // @ts-expect-error: a number or a text
        vault.clock.advance(new Date())
        return vault
      }
      export async function mount(): Promise<Coffer> {
        return coffer((await openVault({ data: 'vault' })).deps)
      }`,
    )
    const bundler = { module: 'ESNext', moduleResolution: 'bundler', lib: ['ESNext', 'DOM'] }
    write('tsconfig.json', strict({ ...bundler, skipLibCheck: true }, ['server.ts']))
    expect(await compile()).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  }, 120_000)
})
