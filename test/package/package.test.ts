/**
 * The npm package as somebody gets it: installed by npm into an empty folder, used in Node.js, in
 * Bun and on the command line. It is made by `bun run pack`.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import { startVault } from '../../src/testing/index.ts'
import { temporaryFolder } from '../support/folders.ts'

const root = resolve(import.meta.dir, '../..')
const archive = join(root, 'dist', `coffer-${version}.tgz`)
const installMsMax = 180_000

let home: string

/** What the binary of this project is called is no setting of a vault. */
const { COFFER_BINARY: _, ...env } = process.env

async function run(command: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn([...command], {
    cwd: home,
    env: { ...env, ...more },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { exitCode: await child.exited, stdout, stderr }
}

const write = (name: string, text: string): void => writeFileSync(join(home, name), text)

beforeAll(async () => {
  home = temporaryFolder()
  write('package.json', JSON.stringify({ name: 'shop', private: true, type: 'module' }))
  const { exitCode, stderr } = await run(['npm', 'install', '--no-audit', '--no-fund', archive])
  expect([exitCode, exitCode === 0 ? '' : stderr]).toEqual([0, ''])
}, installMsMax)

const packed = () => join(home, 'node_modules', 'coffer')

describe('what is in it', () => {
  test('is what it exports, with types, and no source, test or setting of this project', () => {
    const files = readdirSync(packed()).toSorted()
    const browsers = ['client', 'element', 'elements', 'react']
    const scripts = [...browsers, 'index', 'main', 'socket', 'testing']
    const bundles = ['coffer.mjs', ...scripts.map(name => `${name}.js`)]
    expect(files).toEqual(
      [...bundles, 'README.md', 'needs-bun.js', 'package.json', 'types'].toSorted(),
    )
    const { exports } = JSON.parse(readFileSync(join(packed(), 'package.json'), 'utf8')) as {
      exports: Record<string, string | { types: string; default: string }>
    }
    for (const to of Object.values(exports)) {
      const paths = typeof to === 'string' ? [to] : [to.types, to.default]
      for (const path of paths) expect(readFileSync(join(packed(), path), 'utf8')).not.toBe('')
    }
  })

  test('names no folder of the machine that made it', () => {
    for (const name of readdirSync(packed(), { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:js|mjs|ts|json)$/.test(name)) continue
      expect([name, readFileSync(join(packed(), name), 'utf8').includes(root)]).toEqual([
        name,
        false,
      ])
    }
  })

  test('of the client and the card fields needs no package and no addon', () => {
    for (const name of ['client.js', 'elements.js']) {
      const text = readFileSync(join(packed(), name), 'utf8')
      expect([name, /^import |\bimport\(|\brequire\(/m.test(text)]).toEqual([name, false])
    }
    const element = readFileSync(join(packed(), 'element.js'), 'utf8')
    const beside = [...element.matchAll(/from "([^"]+)"/g)].map(([, name]) => name)
    expect([...new Set(beside)]).toEqual(['./elements.js'])
    const react = readFileSync(join(packed(), 'react.js'), 'utf8')
    expect(react).toStartWith("'use client'\n")
    const needed = [...react.matchAll(/from "([^"]+)"/g)].map(([, name]) => name)
    expect([...new Set(needed)]).toEqual(['react', './elements.js'])
    const socket = readFileSync(join(packed(), 'socket.js'), 'utf8')
    expect([...socket.matchAll(/from "([^"]+)"/g)].map(([, name]) => name)).toEqual([
      'node:http',
      'node:stream',
    ])
  })
})

test('npx coffer dev and a client in Node.js store and reveal a card', async () => {
  write(
    'card.mjs',
    `import { spawn } from 'node:child_process'
    import { once } from 'node:events'
    import { createClient } from 'coffer/client'
    const vault = spawn('npx', ['coffer', 'dev', '--port', '0', '--json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(vault.stdout, 'data')
    const { base_url: address, private_key: key, public_key } = JSON.parse(line)
    const { tokens } = createClient({ address, key: public_key })
    const { id } = await tokens.create({ type: 'card', data: { number: '4242424242424242' } })
    const { data } = await createClient({ address, key }).tokens.get(id)
    console.log(data.number)
    console.log((await fetch(address + '/elements/card.js')).headers.get('content-type'))
    vault.kill()
    await once(vault, 'exit')`,
  )
  expect(await run(['node', 'card.mjs'])).toEqual({
    exitCode: 0,
    stdout: '4242424242424242\ntext/javascript; charset=utf-8\n',
    stderr: '',
  })
}, 60_000)

/** The first block of the README of the package in that language. */
const blockOf = (language: string): string => {
  const text = readFileSync(join(packed(), 'README.md'), 'utf8')
  return new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(text)?.[1] ?? ''
}

test('the program of its README does in Node.js what it says', async () => {
  await using vault = await startVault()
  write('readme.mjs', blockOf('js'))
  const reach = { VAULT_ADDRESS: vault.address, VAULT_KEY: vault.keys.private }
  const ended = await run(['node', 'readme.mjs'], reach)
  const stdout = 'XXXXXXXXXXXX4242\n4242424242424242\n'
  expect(ended).toEqual({ exitCode: 0, stdout, stderr: '' })
}, 60_000)

test('the test of its README passes', async () => {
  write('readme.test.ts', blockOf('ts'))
  const { exitCode, stderr } = await run(['npx', 'bun', 'test', 'readme.test.ts'])
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining(' 1 pass')])
}, 60_000)

test('what needs Bun says so in Node.js', async () => {
  for (const name of ['coffer', 'coffer/testing']) {
    const { exitCode, stderr } = await run(['node', '-e', `import('${name}')`])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('the vault runs on Bun')])
  }
}, 60_000)

test('a vault runs inside bun test', async () => {
  write(
    'shop.test.ts',
    `import { expect, test } from 'bun:test'
    import { startVault } from 'coffer/testing'
    test('a card comes back', async () => {
      await using vault = await startVault()
      const [id] = await vault.seed([{ type: 'card', data: { number: '4242424242424242' } }])
      expect((await vault.client().tokens.get(id!)).data).toEqual({ number: '4242424242424242' })
      vault.clock.advance('3m')
    })`,
  )
  const bun = join(home, 'node_modules', '.bin', 'bun')
  const { exitCode, stderr } = await run([bun, 'test', 'shop.test.ts'])
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining(' 1 pass')])
}, 60_000)

test('the vault is mounted in an application of Elysia', async () => {
  write(
    'app.ts',
    `import { coffer, openVault } from 'coffer'
    import { Elysia } from 'elysia'
    const { deps, close } = await openVault({ data: 'vault' })
    const app = new Elysia({ prefix: '/vault' }).use(coffer(deps))
    const { status } = await app.handle(new Request('http://localhost/vault/tokens'))
    console.log(status)
    await close()
    process.exit(0)`,
  )
  const bun = join(home, 'node_modules', '.bin', 'bun')
  expect((await run(['npx', 'coffer', 'init', '--data', 'vault'])).exitCode).toBe(0)
  expect((await run([bun, 'app.ts'])).stdout).toBe('401\n')
}, 60_000)

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

test('without Bun the command says what is missing', async () => {
  const alone = temporaryFolder()
  writeFileSync(join(alone, 'coffer.mjs'), readFileSync(join(packed(), 'coffer.mjs')))
  const node = Bun.which('node') ?? ''
  const child = Bun.spawn([node, 'coffer.mjs', 'dev'], {
    cwd: alone,
    env: { PATH: '/nowhere' },
    stderr: 'pipe',
  })
  expect(await child.stderr.text()).toBe(
    'coffer: found no Bun to run on: install the package bun beside it\n',
  )
  expect(await child.exited).toBe(1)
})
