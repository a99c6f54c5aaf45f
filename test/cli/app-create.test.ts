/**
 * `coffer app create` for scripts: with type, permissions and rules, and only where it is absent.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

let root: string
let data: string
beforeAll(async () => {
  root = temporaryFolder()
  data = join(root, 'vault')
  await runCoffer(['init', '--data', data])
})

const create = (...args: readonly string[]) => runCoffer(['app', 'create', '--data', data, ...args])

async function made(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await create(...args, '--json')
  expect([exitCode, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Record<string, unknown>
}

const rules = [
  { priority: 1, container: '/shop/', transform: 'reveal', permissions: ['token:read'] },
]

describe('coffer app create', () => {
  test('makes what it is told, by rules of a file, with the key in another', async () => {
    const file = join(root, 'rules.json')
    const keyFile = join(root, 'shop.key')
    writeFileSync(file, JSON.stringify(rules))
    const facts = await made(
      '--name',
      'shop',
      '--type',
      'private',
      '--rules',
      file,
      '--key-file',
      keyFile,
    )
    expect(facts).toEqual({
      tenant_id: expect.any(String),
      application_id: expect.any(String),
      key_file: keyFile,
    })
    const permitted = ['--permission', 'token:create', '--permission', 'token:update']
    const open = await made('--name', 'page', '--type', 'public', ...permitted)
    const socket = join(root, 'made.sock')
    const server = await startCoffer(['serve', '--data', data, '--socket', socket])
    const own = async (key: string) => {
      const headers = { 'SVC-API-KEY': key }
      const answer = await fetch('http://localhost/applications/key', { headers, unix: socket })
      return (await answer.json()) as Record<string, unknown>
    }
    const shop = await own(readFileSync(keyFile, 'latin1').trim())
    expect(shop).toMatchObject({ name: 'shop', type: 'private', permissions: [], rules })
    const page = await own(String(open['key']))
    expect(page).toMatchObject({ type: 'public', permissions: ['token:create', 'token:update'] })
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('does nothing where one has that name, also through a running server', async () => {
    const keyFile = join(root, 'once.key')
    const args = ['--if-absent', 'once', '--key-file', keyFile]
    const first = await made(...args)
    expect(first).toMatchObject({ created: true, key_file: keyFile })
    const key = readFileSync(keyFile, 'latin1')
    const { application_id, tenant_id } = first
    const again = await made('--if-absent', 'once')
    expect(again).toEqual({ application_id, tenant_id, created: false })
    const server = await startCoffer(['serve', '--data', data, '--port', '0'])
    const unused = join(root, 'unused.key')
    expect(await made('--if-absent', 'once', '--key-file', unused)).toEqual(again)
    expect(existsSync(unused)).toBe(false)
    const both = await Promise.all([made('--if-absent', 'two'), made('--if-absent', 'two')])
    expect(both.map(facts => facts['created']).toSorted()).toEqual([false, true])
    expect((await create('--if-absent', 'once')).stdout).toStartWith('There is an application')
    expect(await server.end('SIGTERM')).toBe(0)
    expect(readFileSync(keyFile, 'latin1')).toBe(key)
  })

  test('refuses what is none, in one line that repeats nothing, and makes nothing', async () => {
    const bad = join(root, 'bad.json')
    writeFileSync(bad, '{"canary": 1}')
    const count = async () =>
      (
        JSON.parse((await runCoffer(['app', 'list', '--data', data, '--json'])).stdout) as {
          applications: unknown[]
        }
      ).applications.length
    const before = await count()
    const keyFile = join(root, 'never.key')
    const refused: readonly (readonly [readonly string[], number, RegExp])[] = [
      [
        ['--permission', 'token:read', '--permission', 'canary'],
        2,
        /number 2: expected one of token:create/,
      ],
      [['--permission', 'token:raed'], 2, /number 1: did you mean `token:read`\?/],
      [['--rules', bad], 2, /expected a JSON array of rules/],
      [['--rules', join(root, 'absent.json')], 2, /expected a JSON array of rules/],
      [['--name', 'a', '--if-absent', 'b'], 2, /--name: expected without --if-absent/],
      [['--if-absent', ' '], 2, /--if-absent: expected 1 to 200/],
      [['--type', 'public', '--permission', 'token:read'], 1, /./],
    ]
    for (const [args, code, says] of refused) {
      const { exitCode, stdout, stderr } = await create(...args, '--key-file', keyFile)
      expect([args, exitCode, stdout]).toEqual([args, code, ''])
      expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
      expect(stderr).toMatch(says)
      expect(stderr).not.toContain('canary')
    }
    expect(existsSync(keyFile)).toBe(false)
    expect(await count()).toBe(before)
  })
})
