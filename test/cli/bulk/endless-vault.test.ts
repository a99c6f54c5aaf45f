/**
 * A server that answers as a vault does, without an end: commands hold a bounded part of it.
 * @module
 */
import { afterEach, expect, test } from 'bun:test'
import { deletedIdCharsMax, tableRowsHeld } from '../../../src/limits/operation-limits.ts'
import { runCoffer } from '../../support/coffer-process.ts'

let vault: Bun.Server<undefined> | undefined
afterEach(() => vault?.stop(true))

/** Answers each page by its number, from 1 on. */
async function failureAt(words: readonly string[], answer: (page: number) => Response) {
  let page = 0
  vault = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => answer((page += 1)) })
  const env = { COFFER_ADDR: vault.url.origin, COFFER_KEY: 'key_a' }
  return runCoffer(['token', ...words], { env })
}

const pageOf = (page: number, ids: readonly string[]): Response =>
  Response.json({
    pagination: { next: String(page) },
    data: ids.map(id => ({ id, type: 'token', containers: ['/'], created_at: 'then', data: 1 })),
  })

const size = 100
const idsOf = (page: number, chars = 0): readonly string[] =>
  Array.from({ length: size }, (_, at) => `${page}-${at}`.padEnd(chars, 'x'))
const refused = () => Response.json({ detail: 'It ends here.' }, { status: 403 })

// proves E31.1
test('a list is printed in stretches, with one head', async () => {
  const pages = tableRowsHeld / size + 1
  const { exitCode, stdout, stderr } = await failureAt(['list'], page =>
    page > pages ? refused() : pageOf(page, idsOf(page)),
  )
  expect([exitCode, stderr]).toEqual([3, 'coffer: It ends here.\n'])
  const lines = stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(1 + tableRowsHeld)
  expect(lines.filter(line => line.startsWith('id '))).toHaveLength(1)
})

test('one that ends is printed whole, its columns as wide as above', async () => {
  const pages = tableRowsHeld / size + 1
  const { exitCode, stdout } = await failureAt(['list'], page =>
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
  const { exitCode, stdout, stderr } = await failureAt(['delete', '--where', '*', '--yes'], page =>
    pageOf((pages = page), idsOf(page, chars)),
  )
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toContain('more tokens are found than one command deletes: nothing was deleted')
  expect(pages).toBe(Math.ceil((deletedIdCharsMax + 1) / (size * chars)))
})
