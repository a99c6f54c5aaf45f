/**
 * `coffer/testing` as it is published, in the test runners of Node.js 20 and 22: what
 * `runners/story.cjs` tells is the same in each, the tests of docs/testing.md pass, and nothing is
 * left of a vault when its test has ended.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folders.ts'
import { blocksOf, readPage } from '../support/page.ts'
import { installAll, installMsMax, root, runBy } from './install.ts'

const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
const installed = join(cache, 'coffer/test-runners-20.20.2-22.23.3-4.1.12-30.5.2')
const packages = join(installed, 'node_modules')
const hasRunners = existsSync(join(installed, 'ready'))
if (!hasRunners) {
  console.warn('coffer/testing is not tested in Node.js: see scripts/install-test-runners')
}
const binary = join(root, 'dist/coffer')
const hasBinary = existsSync(binary)
if (!hasBinary) console.warn('coffer/testing is not tested on the binary: npm run build makes it')

const runMsMax = 300_000
const [vitestBlock = '', jestBlock = '', nodeBlock = ''] = blocksOf(
  readPage('docs/testing.md'),
  'js',
)

interface Runner {
  readonly name: string
  readonly words: readonly string[]
  /** Path of the file with its test. */
  readonly file: string
  /** The test, and that of the page. */
  readonly tests: readonly [story: string, page: string]
  /** Output that tells how many tests passed. */
  readonly says: RegExp
}

const runners: readonly Runner[] = [
  {
    name: 'vitest',
    words: [
      join(packages, 'vitest/vitest.mjs'),
      'run',
      '--root',
      '.',
      ...['test', 'hook'].map(of => `--${of}Timeout=${runMsMax}`),
    ],
    file: 'shop.test.ts',
    tests: [
      `import { CofferError } from 'coffer/client'
      import { startVault } from 'coffer/testing'
      import { expect, test } from 'vitest'
      import { expected, tellStory } from './story.cjs'
      test('story', async () => {
        expect(await tellStory({ startVault, CofferError })).toEqual(expected)
        await using vault = await startVault()
        expect(await vault.seed([{ type: 'token', data: 1 }])).toHaveLength(1)
      }, ${runMsMax})`,
      vitestBlock,
    ],
    says: /Tests\s+2 passed/,
  },
  {
    name: 'Jest',
    words: [join(packages, 'jest/bin/jest.js'), '--rootDir', '.', '--testTimeout', `${runMsMax}`],
    file: 'shop.test.cjs',
    tests: [
      `const { CofferError } = require('coffer/client')
      const { startVault } = require('coffer/testing')
      const { expected, tellStory } = require('./story.cjs')
      test('story', async () => {
        expect(await tellStory({ startVault, CofferError })).toEqual(expected)
      }, ${runMsMax})`,
      jestBlock,
    ],
    says: /Tests:\s+2 passed, 2 total/,
  },
  {
    name: 'node:test',
    words: ['--test'],
    file: 'shop.test.mjs',
    tests: [
      `import assert from 'node:assert/strict'
      import { test } from 'node:test'
      import { CofferError } from 'coffer/client'
      import { startVault } from 'coffer/testing'
      import { expected, tellStory } from './story.cjs'
      test('story', async () => {
        assert.deepEqual(await tellStory({ startVault, CofferError }), expected)
      })`,
      nodeBlock,
    ],
    says: /^[#ℹ] pass 2$/m,
  },
]

describe.skipIf(!hasRunners)('a vault beside a test', () => {
  let home: string
  beforeAll(async () => {
    home = (await installAll()).folder
    symlinkSync(join(packages, 'vitest'), join(home, 'node_modules', 'vitest'))
  }, installMsMax)

  /** Makes a folder where packages are found, and where leftovers of a vault would be. */
  function prepare(files: Readonly<Record<string, string>>) {
    const place = temporaryFolder()
    const folder = join(place, 'shop')
    mkdirSync(folder)
    symlinkSync(join(home, 'node_modules'), join(folder, 'node_modules'))
    copyFileSync(join(import.meta.dir, 'runners/story.cjs'), join(folder, 'story.cjs'))
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const left = () => readdirSync(place).filter(name => name.startsWith('coffer-'))
    return { folder, env: { TMPDIR: place, NO_COLOR: '1' }, left }
  }

  describe.each([20, 22])('in Node.js %d', major => {
    const node = join(installed, `node-${major}`)

    test.each(runners.map(runner => [runner.name, runner] as const))(
      'under %s is as it is in Bun, and the test of the page passes',
      async (_, { words, file, tests: [story, page], says }) => {
        const { folder, env, left } = prepare({ [file]: story, [`page.${file}`]: page })
        const { exitCode, stdout, stderr } = await runBy(folder, [node, ...words], env)
        expect([exitCode, stdout + stderr]).toEqual([0, expect.stringMatching(says)])
        expect(left()).toEqual([])
      },
      runMsMax,
    )

    test(
      'keeps no program running, and ends with one that did not stop it',
      async () => {
        const { folder, env, left } = prepare({
          'forgets.mjs': `import { startVault } from 'coffer/testing'
          const { address } = await startVault()
          console.log(address)`,
        })
        const { exitCode, stdout, stderr } = await runBy(folder, [node, 'forgets.mjs'], env)
        expect([exitCode, stderr]).toEqual([0, ''])
        await untilGone(stdout.trim())
        expect(left()).toEqual([])
      },
      runMsMax,
    )
  })

  test(
    'is in a test of Bun what it is in those',
    async () => {
      const { folder, env, left } = prepare({
        'shop.test.ts': `import { expect, test } from 'bun:test'
        import { CofferError } from 'coffer/client'
        import { startVault } from 'coffer/testing'
        import { expected, tellStory } from './story.cjs'
        test('story', async () => {
          expect(await tellStory({ startVault, CofferError })).toEqual(expected)
        })`,
      })
      const { exitCode, stderr } = await runBy(
        folder,
        [process.execPath, 'test', '--timeout=300000'],
        env,
      )
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining(' 1 pass')])
      expect(left()).toEqual([])
    },
    runMsMax,
  )

  /** @throws Error if the vault goes on to answer */
  async function untilGone(address: string): Promise<void> {
    for (let tries = 0; tries < 2_000; tries += 1) {
      const isThere = await fetch(`${address}/tokens`, { proxy: '' }).then(
        () => true,
        () => false,
      )
      if (!isThere) return
      await Bun.sleep(100)
    }
    throw new Error('the vault has outlived its test')
  }

  const node = join(installed, 'node-22')

  test(
    'ends with a test that is killed',
    async () => {
      const { folder, env, left } = prepare({
        'waits.mjs': `import { startVault } from 'coffer/testing'
        const { address } = await startVault()
        console.log(address)
        setInterval(() => {}, 1_000)`,
      })
      const child = Bun.spawn([node, 'waits.mjs'], {
        cwd: folder,
        env: { ...process.env, ...env },
        stdout: 'pipe',
      })
      atEnd(() => child.kill('SIGKILL'))
      const { value = new Uint8Array() } = await child.stdout.getReader().read()
      const address = new TextDecoder().decode(value).trim()
      expect((await fetch(`${address}/tokens`, { proxy: '' })).status).toBe(401)
      child.kill('SIGKILL')
      await untilGone(address)
      expect(left()).toEqual([])
    },
    runMsMax,
  )

  test.skipIf(!hasBinary)(
    'is the binary that COFFER names',
    async () => {
      const { folder, env } = prepare({
        'story.mjs': `import { CofferError } from 'coffer/client'
        import { startVault } from 'coffer/testing'
        import { expected, tellStory } from './story.cjs'
        import assert from 'node:assert/strict'
        assert.deepEqual(await tellStory({ startVault, CofferError }), expected)`,
      })
      const ended = await runBy(folder, [node, 'story.mjs'], { ...env, COFFER: binary })
      expect(ended).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    },
    runMsMax,
  )

  test('that cannot be started says why, and what to do', async () => {
    const { folder, env } = prepare({
      'fails.mjs': `import { startVault } from 'coffer/testing'
      await startVault().catch(error => console.log(error.message))`,
    })
    const why = async (program: string) => {
      const ended = await runBy(folder, [node, 'fails.mjs'], { ...env, COFFER: program })
      return ended.stdout.trim()
    }
    const start = 'startVault: the vault did not start: '
    const advice = 'install the package bun, or name the binary of coffer in COFFER'
    expect(await why('no-such-coffer')).toBe(`${start}found no no-such-coffer: ${advice}`)
    expect(await why('/bin/false')).toBe(`${start}it has ended`)
    expect(await why(folder)).toBe(`${start}EACCES`)
  })
})
