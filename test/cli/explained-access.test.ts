/**
 * `coffer access`, against a vault.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startVault, type KeyKind, type TestVault } from '../../src/testing/index.ts'
import { runCoffer } from '../support/coffer-process.ts'

let vault: TestVault
let id: string
const rules = [
  { priority: 1, container: '/pci/high/', transform: 'mask', permissions: ['token:read'] },
  { priority: 2, container: '/pci/', transform: 'reveal', permissions: ['token:read'] },
] as const

beforeAll(async () => {
  vault = await startVault()
  const manager = vault.client('management')
  const asked = { name: '=Desk, "till";@a; =b;"=c;＝d', type: 'private', rules } as const
  ;({ id } = await manager.applications.create({ ...asked, permissions: ['token:use'] }))
  await vault.seed([
    { type: 'token', id: 'high', data: 1, containers: ['/pci/high/'] },
    { type: 'token', id: 'low', data: 2, containers: ['/pci/low/'] },
    { type: 'token', id: 'bank', data: 3, containers: ['/bank/'] },
  ])
})
afterAll(() => vault.stop())

const run = (words: readonly string[], input = '', as: KeyKind = 'management') =>
  runCoffer(['access', ...words], {
    input,
    env: { COFFER_ADDR: vault.address, COFFER_KEY: vault.keys[as] },
  })

test('explain says in one sentence which rule decides, and shows all of them', async () => {
  const { exitCode, stdout } = await run(['explain', 'low', '--app', id])
  const [sentence, head, ...lines] = stdout.trim().split('\n')
  expect([exitCode, sentence]).toEqual([
    0,
    'Revealed: rule 1 (priority 2, container /pci/) decides; rule 0 does not cover the token.',
  ])
  expect(head).toMatch(/^rule +priority +container +transform +holds it +covers +decides$/)
  expect(lines).toHaveLength(3)
  const json = await run(['explain', '--container', '/bank/', '--app', id, '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ decision: 'hidden', status: 404 })
  const use = ['--operation', 'detokenize']
  const used = await run(['explain', 'bank', '--app', id, ...use, '--json'])
  expect(JSON.parse(used.stdout)).toMatchObject({ decision: 'reveal', decided_by: 'token:use' })
})

test.each([
  [['explain', '--app', 'x'], 2],
  [['explain', 'low', '--container', '/a/', '--app', 'x'], 2],
  [['explain', 'low'], 2],
  [['explain', 'low', '--app', 'x', '--session', 'y'], 2],
  [['explain', 'low', '--app', 'x', '--permission', 'token:use', '--operation', 'getToken'], 2],
  [['explain', 'low', '--app', 'no-id'], 6],
  [['simulate', '00000000-0000-4000-8000-000000000000'], 4],
  [['review', '--format', 'xml'], 2],
])('%j is refused', async (words, code) => {
  const { exitCode, stdout, stderr } = await run(words, '{"permissions":["token:read"]}')
  expect([exitCode, stdout]).toEqual([code, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
})

test.each([[['explain', 'low', '--app']], [['simulate']]])('%j needs a manager', async words => {
  const { exitCode } = await run([...words, id], '{"permissions":["token:read"]}', 'private')
  expect(exitCode).toBe(3)
})

test('simulate counts what the grants on stdin would change', async () => {
  const grants = JSON.stringify({ permissions: ['token:use'], rules: rules.slice(0, 1) })
  const { stdout } = await run(['simulate', id], grants)
  expect(stdout).toMatch(/^permission .*\ntoken:read +reveal +hidden +1 +low\n$/)
  const same = JSON.stringify({ permissions: ['token:use'], rules })
  expect((await run(['simulate', id], same)).stdout).toBe('No token would be seen otherwise.\n')
})

test('review names who may reveal, where, and how many tokens each rule decides over', async () => {
  const { stdout } = await run(['review', '--format', 'csv'])
  const lines = stdout.trim().split('\n')
  expect(lines[0]).toBe('application_id,name,permission,by,container,tokens,last_used_on')
  expect(lines.filter(line => line.startsWith(id))).toEqual([
    `${id},"'=Desk, ""till"";'@a; '=b;""'=c;'＝d",token:read,rule 1,/pci/,1,`,
    `${id},"'=Desk, ""till"";'@a; '=b;""'=c;'＝d",token:use,token:use,/,3,`,
  ])
  const json = await run(['review', '--json'])
  const { rows } = JSON.parse(json.stdout) as { rows: readonly object[] }
  expect(rows).toHaveLength(lines.length - 1)
  const table = await run(['review'])
  expect(table.stdout.split('\n')[0]).toMatch(/^application_id +name +permission/)
})

/** Answers of another server at that address. */
const wrongs: readonly (readonly [string, unknown])[] = [
  ['an empty object', {}],
  ['numbers', { text: 'a', steps: [1], changes: [1], data: [1] }],
  ['things without members', { text: 'a', changes: [{}], data: [{}] }],
  [
    'rules of other forms',
    { steps: [], changes: [{ samples: 1 }], data: [{ id: 'a', permissions: [], rules: [{}] }] },
  ],
]

describe.each(wrongs)('a server that is no vault and answers %s', (_, wrong) => {
  const commands = [
    ['access', 'explain', 'low', '--app', 'a'],
    ['access', 'simulate', 'a'],
    ['access', 'review'],
    ['permissions'],
  ]

  // proves E31.3
  test.each(commands)('is told of as that by %s %s', async (...words) => {
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(wrong) })
    const address = other.url.origin
    const env = { COFFER_ADDR: address, COFFER_KEY: vault.keys.management }
    const { exitCode, stderr } = await runCoffer(words, { input: '{}', env })
    await other.stop(true)
    const expected = `the answer of ${address} is not one of a vault: is the address right?`
    expect([exitCode, stderr]).toEqual([1, `coffer: ${expected}\n`])
  })
})
