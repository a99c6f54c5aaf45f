/**
 * The search index of the audit log, as an operator meets it: a writer of the store takes ids out
 * of it, `coffer verify` says so, and `coffer audit reindex` has it made again.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { bucketKey, indexKey } from '../../src/audit/index-format.ts'
import { logIndexPutsMax, logSliceEntries } from '../../src/limits/work-limits.ts'
import { openStoreOf, placesOf } from '../../src/server/folder/data-folder.ts'
import { tamper } from '../store/tamper.ts'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { fillLog, indexedIn, request } from '../support/served-log.ts'
import { until } from '../support/until.ts'

const slowMs = 300_000
const idKind = 1

/** Takes all that the index has of ids, as one could who writes to the store. */
async function thinOut(data: string): Promise<void> {
  const { store } = await openStoreOf(placesOf(data), { onFailure: () => {} })
  try {
    const ids = [bucketKey(0), indexKey(idKind + 1)] as const
    for (;;) {
      const some = await store.derived(...ids, logIndexPutsMax)
      if (some.length === 0) return
      await store.write(some.map(({ key }) => ({ derived: key, value: undefined })))
    }
  } finally {
    await store.close()
  }
}

const serve = (data: string): Promise<Running> =>
  startCoffer(['serve', '--data', data, '--port', '0'])

async function totalOf(server: Running, key: string): Promise<unknown> {
  const address = /http:\S+/.exec(server.ready)?.[0] ?? ''
  const { status, body } = await request(address, key, '/logs?entity_id=card-1')
  expect(status).toBe(200)
  return (body['pagination'] as Readonly<Record<string, unknown>>)['total_items']
}

async function findMissing(...more: readonly string[]): Promise<void> {
  const data = join(temporaryFolder(), 'v')
  const made = await runCoffer(['init', '--data', data, '--json', ...more])
  const { key } = JSON.parse(made.stdout) as { key: string }
  const verify = () => runCoffer(['verify', '--data', data])
  const first = await serve(data)
  await fillLog(/http:\S+/.exec(first.ready)?.[0] ?? '', key)
  await until(async () => (await indexedIn(data)) === logSliceEntries)
  const all = await totalOf(first, key)
  expect(all).toBeGreaterThan(logSliceEntries / 4)
  expect(await first.end('SIGTERM')).toBe(0)
  expect((await verify()).exitCode).toBe(0)

  await thinOut(data)
  const second = await serve(data)
  expect(await totalOf(second, key)).toBeLessThan(Number(all))
  expect(await second.end('SIGTERM')).toBe(0)
  const { exitCode, stdout, stderr } = await verify()
  expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^log_index_differs: entry 0\n/)])
  expect(stderr).toMatch(
    /is whole, but GET \/logs may leave out entries: run coffer audit reindex\n$/,
  )
  const copy = ['backup', '--data', data, '--to', join(temporaryFolder(), 'copy')]
  if (more.length === 0) expect((await runCoffer(copy)).exitCode).toBe(0)

  const third = await serve(data)
  expect((await runCoffer(['audit', 'reindex', '--data', data])).exitCode).toBe(0)
  expect(await totalOf(third, key)).toBe(all)
  await until(async () => (await indexedIn(data)) === logSliceEntries)
  expect(await totalOf(third, key)).toBe(all)
  expect(await third.end('SIGTERM')).toBe(0)
  expect((await verify()).exitCode).toBe(0)
  const tail = await runCoffer(['audit', 'tail', '--data', data, '--operation', 'audit-reindex'])
  expect(tail.stdout).toMatch(/200 audit-reindex -/)

  expect((await runCoffer(['audit', 'reindex', '--data', data])).exitCode).toBe(0)
  expect(await indexedIn(data)).toBe(0)
  expect((await verify()).exitCode).toBe(0)
}

// proves S112
test('what is missing in it is told and made again', () => findMissing(), slowMs)

test(
  'an entry that does not open is damage, and no reason to make it again',
  async () => {
    const data = join(temporaryFolder(), 'v')
    const made = await runCoffer(['init', '--data', data, '--json'])
    const { key } = JSON.parse(made.stdout) as { key: string }
    const server = await serve(data)
    await fillLog(/http:\S+/.exec(server.ready)?.[0] ?? '', key)
    await until(async () => (await indexedIn(data)) === logSliceEntries)
    expect(await server.end('SIGTERM')).toBe(0)
    await tamper(join(data, 'store'), ({ log }) => {
      const [{ key: first, value }] = [...(log?.getRange({ limit: 1 }) ?? [])] as [
        { key: Buffer; value: Buffer },
      ]
      const flipped = Buffer.from(value)
      flipped.writeUInt8(flipped.readUInt8(flipped.length - 1) ^ 1, flipped.length - 1)
      log?.putSync(first, flipped)
    })
    const { exitCode, stdout, stderr } = await runCoffer(['verify', '--data', data])
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^log_damaged\n/)])
    expect(stderr).toMatch(/is damaged: restore it from a backup\n$/)
  },
  slowMs,
)

// .ci/run installs it.
test.skipIf(!isPostgresThere)(
  'also over PostgreSQL',
  async () => findMissing('--store', (await sharedPostgres()).url(nextSchema())),
  slowMs,
)
