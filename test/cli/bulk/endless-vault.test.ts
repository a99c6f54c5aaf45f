/**
 * A server that answers as a vault does, without an end: commands hold a bounded part of it.
 * @module
 */
import { afterEach, expect, test } from 'bun:test'
import {
  deletedIdCharsMax,
  reviewCharsMax,
  reviewedApplicationsMax,
  tableRowsHeld,
  walkedTokensSpare,
} from '../../../src/limits/operation-limits.ts'
import { runCoffer } from '../../support/coffer-process.ts'

let vault: Bun.Server<undefined> | undefined
afterEach(() => vault?.stop(true))

/** Answers each page by its number, from 1 on. */
async function failureAt(words: readonly string[], answer: (page: number) => Response) {
  let page = 0
  vault = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => answer((page += 1)) })
  const env = { COFFER_ADDR: vault.url.origin, COFFER_KEY: 'key_a' }
  return runCoffer(words, { env })
}

const counted = 5
/** An application as well, so that one server answers all that a command asks. */
const holder = { id: 'a', permissions: ['token:search', 'token:update'], rules: [] }
const pageOf = (page: number, ids: readonly string[]): Response =>
  Response.json({
    ...holder,
    pagination: { next: String(page), total_items: counted },
    data: ids.map(id => ({ id, type: 'token', containers: ['/'], created_at: 'then', data: 1 })),
  })

const size = 100
const idsOf = (page: number, chars = 0): readonly string[] =>
  Array.from({ length: size }, (_, at) => `${page}-${at}`.padEnd(chars, 'x'))
const refused = () => Response.json({ detail: 'It ends here.' }, { status: 403 })

// proves E31.1
test('a list is printed in stretches, with one head', async () => {
  const pages = tableRowsHeld / size + 1
  const { exitCode, stdout, stderr } = await failureAt(['token', 'list'], page =>
    page > pages ? refused() : pageOf(page, idsOf(page)),
  )
  expect([exitCode, stderr]).toEqual([3, 'coffer: It ends here.\n'])
  const lines = stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(1 + tableRowsHeld)
  expect(lines.filter(line => line.startsWith('id '))).toHaveLength(1)
})

test('one that ends is printed whole, its columns as wide as above', async () => {
  const pages = tableRowsHeld / size + 1
  const { exitCode, stdout } = await failureAt(['token', 'list'], page =>
    page < pages
      ? pageOf(page, idsOf(page, 20))
      : Response.json({ pagination: {}, data: [{ id: 'last', type: 'token' }] }),
  )
  const lines = stdout.trimEnd().split('\n')
  expect([exitCode, lines.length]).toEqual([0, 2 + tableRowsHeld])
  expect(lines.at(-1)).toBe(`${'last'.padEnd(20)}  token  -          -           -`)
})

// proves E31.1
test('a deletion ends before it asks, and deletes nothing', async () => {
  const chars = 1024 ** 2
  let pages = 0
  const { exitCode, stdout, stderr } = await failureAt(
    ['token', 'delete', '--where', '*', '--yes'],
    page => pageOf((pages = page), idsOf(page, chars)),
  )
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toContain('more tokens are found than one command deletes: nothing was deleted')
  expect(pages).toBe(Math.ceil((deletedIdCharsMax + 1) / (size * chars)))
})

const more = (most: string) => `coffer: the vault lists more: expected at most ${most}\n`

// proves E31.1
test.each([
  [['token', 'counts']],
  [['token', 'reindex', '--where', '*', '--none', '--dry-run', '--json']],
])('what %j walks is no longer than the vault says, and some', async words => {
  let pages = 0
  const { exitCode, stderr } = await failureAt(words, page => pageOf((pages = page), idsOf(page)))
  expect([exitCode, stderr]).toEqual([1, more(`${counted + walkedTokensSpare} tokens`)])
  expect(pages).toBeGreaterThan(walkedTokensSpare / size)
})

// proves E31.1
test.each([[['token', 'counts']], [['token', 'list']]])(
  'stretches of nothing end %j at the first',
  async words => {
    let pages = 0
    const { exitCode, stdout, stderr } = await failureAt(words, page => pageOf((pages = page), []))
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^coffer: the answer of [^\n]+ is not one of a vault[^\n]+\n$/)
    expect(pages).toBeLessThanOrEqual(2)
  },
)

const reviewed = (name: string, transform: 'mask' | 'reveal') => ({
  id: 'a',
  name,
  permissions: ['token:read'],
  rules: [{ priority: 1, container: '/', transform, permissions: ['token:read'] }],
})

// proves E31.1
test('a review ends behind more applications than it takes', async () => {
  const page = Response.json({ data: Array(size).fill(reviewed('a', 'mask')) })
  const ended = await failureAt(['access', 'review'], () => page.clone() as Response)
  const expected = more(`${reviewedApplicationsMax} applications`)
  expect([ended.exitCode, ended.stdout, ended.stderr]).toEqual([1, '', expected])
})

// proves E31.1
test('and behind longer names than it holds', async () => {
  const nameChars = 1024 ** 2
  const application = reviewed('n'.repeat(nameChars), 'reveal')
  // Keys, a simulation and a page of applications at once.
  const answer = { changes: [], data: [application] }
  let asked = 0
  const ended = await failureAt(['access', 'review'], at => {
    asked = at
    const isKeys = at % 3 === 0
    return Response.json(isKeys ? [] : answer)
  })
  const expected = more(`${reviewCharsMax} characters of rows`)
  expect([ended.exitCode, ended.stdout, ended.stderr]).toEqual([1, '', expected])
  expect(asked).toBeLessThan((reviewCharsMax / nameChars + 2) * 3)
})
