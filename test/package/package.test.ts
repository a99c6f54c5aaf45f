/**
 * The packages of npm as somebody gets them: installed by npm into an empty folder, used in
 * Node.js, in Bun and on the command line; what each needs, and how large it is.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packages } from '../../scripts/pack/packages.ts'
import { startVault } from '../../src/testing/index.ts'
import { temporaryFolder } from '../support/folders.ts'
import { installAll, installInto, installMsMax, root, runBy } from './install.ts'

let home: string
let told: string

const run = (command: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  runBy(home, command, more)

const write = (name: string, text: string): void => writeFileSync(join(home, name), text)

beforeAll(async () => {
  ;({ folder: home, told } = await installAll())
}, installMsMax)

const packed = (name = 'coffer') => join(home, 'node_modules', name)

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

const bytesBelow = (folder: string): number =>
  filesBelow(folder).reduce((sum, path) => sum + statSync(path).size, 0)

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly scripts?: Readonly<Record<string, string>>
}

const manifestAt = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

describe.each(packages.map(({ name, bytesMax }) => [name, bytesMax] as const))(
  'the contents of %s',
  (name, bytesMax) => {
    const expected: Readonly<Record<string, readonly string[]>> = {
      '@coffer/client': ['client.js', 'socket.js'],
      '@coffer/elements': ['element', 'elements', 'react'].flatMap(of => [`${of}.cjs`, `${of}.js`]),
      coffer: [
        ...['client', 'element', 'elements', 'react', 'socket', 'testing-node'].flatMap(of => [
          `${of}.cjs`,
          `${of}.js`,
        ]),
        'index.js',
        'main.js',
        'testing.js',
        'needs-bun.js',
        'coffer.mjs',
        'licences.txt',
        'program.cjs',
        'swagger',
      ],
    }

    test('is what it exports, with types, and no source, test or setting of this project', () => {
      const files = readdirSync(packed(name)).toSorted()
      const wanted = [...(expected[name] ?? []), 'README.md', 'package.json', 'types']
      expect(files).toEqual(wanted.toSorted())
      for (const to of Object.values(manifestAt(packed(name)).exports)) {
        const paths = typeof to === 'string' ? [to] : Object.values(to)
        for (const path of paths) {
          expect(readFileSync(join(packed(name), path), 'utf8')).not.toBe('')
        }
      }
    })

    test('names no folder of the machine that made it', () => {
      for (const path of filesBelow(packed(name))) {
        expect([path, readFileSync(path, 'utf8').includes(root)]).toEqual([path, false])
      }
    })

    test('is no larger than was agreed', () => {
      expect(bytesBelow(packed(name))).toBeLessThan(bytesMax)
    })
  },
)

describe('of the client and the card fields', () => {
  test.each([
    ['client', []],
    ['elements', []],
    ['element', ['./elements.js']],
    ['react', ['react', './elements.js']],
    ['socket', ['node:http', 'node:stream']],
  ])('%s needs no package and no addon', (name, needed) => {
    const text = readFileSync(join(packed(), `${name}.js`), 'utf8')
    const imports = text.matchAll(/(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*"([^"]+)"/g)
    expect([...new Set([...imports].map(([, from]) => from))]).toEqual(needed)
  })

  test('the component is one of the browser to a program that renders on a server', () => {
    for (const name of ['react.js', 'react.cjs']) {
      const text = readFileSync(join(packed(), name), 'utf8')
      expect([name, text.split('\n', 1)]).toEqual([name, ["'use client'"]])
    }
  })

  test.each(['@coffer/client', '@coffer/elements'])(
    'a package of its own needs no other one, and no network: %s',
    async name => {
      const { folder, told } = await installInto([name], ['--offline'])
      const modules = join(folder, 'node_modules')
      expect(readdirSync(modules).filter(each => !each.startsWith('.'))).toEqual(['@coffer'])
      expect(told).toContain('added 1 package')
      expect(bytesBelow(modules)).toBeLessThan(200_000)
    },
    installMsMax,
  )

  test.each([
    ['import', `import { createClient } from '@coffer/client'; console.log(typeof createClient)`],
    [
      'require',
      `const { createClient } = require('@coffer/client'); console.log(typeof createClient)`,
    ],
    [
      'the socket',
      `const { overSocket } = require('@coffer/client/socket'); console.log(typeof overSocket)`,
    ],
    ['the fields', `import { mountCard } from '@coffer/elements'; console.log(typeof mountCard)`],
  ])('packages of their own are loaded by %s', async (_, program) => {
    const name = program.startsWith('import') ? 'own.mjs' : 'own.cjs'
    write(name, program)
    expect(await run(['node', name])).toEqual({ exitCode: 0, stdout: 'function\n', stderr: '' })
  })

  test.each(['esm', 'cjs'])(
    'an error that nobody catches shows a line of the client: %s',
    async of => {
      const make = "createClient({ address: 'nowhere', key: 'key_1' })"
      const isModule = of === 'esm'
      const name = isModule ? 'uncaught.mjs' : 'uncaught.cjs'
      const given = isModule
        ? "import { createClient } from '@coffer/client'"
        : "const { createClient } = require('@coffer/client')"
      write(name, `${given}\n${make}\n`)
      const { exitCode, stderr } = await run(['node', name])
      expect(exitCode).toBe(1)
      expect(stderr).toContain('TypeError: createClient: expected an address')
      expect(stderr.length).toBeLessThan(2_000)
    },
  )

  test('an error of one copy of the client is known to the others', async () => {
    write(
      'copies.mjs',
      `import { createRequire } from 'node:module'
      import { CofferError as Own, createClient } from '@coffer/client'
      import { CofferError } from 'coffer/client'
      const { CofferError: Required } = createRequire(import.meta.url)('coffer/client')
      const { tokens } = createClient({ address: 'http://127.0.0.1:1', key: 'key_a', retries: 0 })
      const error = await tokens.get('any').catch(error => error)
      class Mine extends CofferError {}
      const known = [Own, CofferError, Required, Error, Mine, TypeError]
      console.log(...known.map(each => error instanceof each))
      console.log(...[new Error('a'), undefined, 'a'].map(each => each instanceof CofferError))`,
    )
    const stdout = 'true true true true false false\nfalse false false\n'
    expect(await run(['node', 'copies.mjs'])).toEqual({ exitCode: 0, stdout, stderr: '' })
  })
})

test('the licences of what is inside are inside', () => {
  const text = readFileSync(join(packed(), 'licences.txt'), 'utf8')
  for (const name of ['lmdb', 'msgpackr', '@elysiajs/openapi', 'swagger-ui-dist']) {
    expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+: (?:MIT|Apache-2\\.0)$`, 'm'))
  }
  expect(text).toContain('Permission is hereby granted')
})

// proves S37
test('nothing runs a script when it is installed, or reports that it was', () => {
  expect(told).not.toContain('install-scripts')
  const manifests = filesBelow(join(home, 'node_modules')).filter(path =>
    /node_modules\/(?:@[^/]+\/)?[^@/][^/]*\/package\.json$/.test(path),
  )
  expect(manifests.length).toBeGreaterThan(10)
  for (const path of manifests) {
    const { scripts = {} } = manifestAt(join(path, '..'))
    const run = ['preinstall', 'install', 'postinstall'].filter(each => each in scripts)
    expect([path, run]).toEqual([path, []])
    expect(path).not.toMatch(/scarf|swagger-ui/)
  }
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
    for (const path of ['/elements/card.js', '/swagger/ui.js', '/swagger/ui.css']) {
      const answer = await fetch(address + path)
      console.log(answer.status, answer.headers.get('content-type'), (await answer.text()) !== '')
    }
    vault.kill()
    await once(vault, 'exit')`,
  )
  expect(await run(['node', 'card.mjs'])).toEqual({
    exitCode: 0,
    stdout: `4242424242424242
200 text/javascript; charset=utf-8 true
200 text/javascript; charset=utf-8 true
200 text/css; charset=utf-8 true
`,
    stderr: '',
  })
}, 300_000)

/** The first block of the README of the package in that language. */
const blockOf = (language: string, name = 'coffer'): string => {
  const text = readFileSync(join(packed(name), 'README.md'), 'utf8')
  return new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(text)?.[1] ?? ''
}

test.each(['coffer', '@coffer/client'])(
  'the program of the README of %s works',
  async name => {
    await using vault = await startVault()
    write('readme.mjs', blockOf('js', name))
    const reach = { VAULT_ADDRESS: vault.address, VAULT_KEY: vault.keys.private }
    const ended = await run(['node', 'readme.mjs'], reach)
    const stdout = 'XXXXXXXXXXXX4242\n4242424242424242\n'
    expect(ended).toEqual({ exitCode: 0, stdout, stderr: '' })
  },
  300_000,
)

test('the test of its README passes', async () => {
  write('readme.test.ts', blockOf('ts'))
  const { exitCode, stderr } = await run([
    process.execPath,
    'test',
    '--timeout=300000',
    'readme.test.ts',
  ])
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining(' 1 pass')])
}, 300_000)

test('a module that needs Bun says so in Node.js', async () => {
  const { exitCode, stderr } = await run(['node', '-e', `import('coffer')`])
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('the vault runs on Bun')])
}, 300_000)

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
  const { exitCode, stderr } = await run([
    process.execPath,
    'test',
    '--timeout=300000',
    'shop.test.ts',
  ])
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining(' 1 pass')])
}, 300_000)

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
  expect((await run(['npx', 'coffer', 'init', '--data', 'vault'])).exitCode).toBe(0)
  expect((await run([process.execPath, 'app.ts'])).stdout).toBe('401\n')
}, 300_000)

test('without Bun the command says what is missing', async () => {
  const alone = temporaryFolder()
  for (const name of ['coffer.mjs', 'program.cjs']) {
    writeFileSync(join(alone, name), readFileSync(join(packed(), name)))
  }
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
