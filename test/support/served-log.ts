/**
 * A vault that three workers serve, whose log is long enough to be indexed: asked over HTTP, it
 * says what a reader of the whole log finds.
 * @module
 */
import { expect } from 'bun:test'
import { join } from 'node:path'
import { indexedBelow } from '../../src/audit/search-index.ts'
import { logSliceEntries } from '../../src/limits/work-limits.ts'
import { openStoreOf, placesOf } from '../../src/server/folder/data-folder.ts'
import { runCoffer } from './coffer-process.ts'
import { temporaryFolder } from './folders.ts'
import { startLogged } from './logged.ts'
import { until } from './until.ts'

const ids = ['card-0', 'card-1', 'card-2'] as const
const reads = logSliceEntries + 60
const atOnce = 20

type Entry = Readonly<Record<string, unknown>>

/** Returns the sequence up to which a served log is indexed, read beside its server. */
export async function indexedIn(data: string): Promise<number> {
  const { store } = await openStoreOf(placesOf(data), {
    onFailure: () => {},
    readOnly: true,
    processes: 2,
  })
  try {
    return await indexedBelow(store)
  } finally {
    await store.close()
  }
}

/** A new connection for each request, so that each worker has some. */
export async function request(address: string, key: string, path: string, body?: object) {
  const answer = await fetch(`${address}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'SVC-API-KEY': key, 'content-type': 'application/json', connection: 'close' },
    keepalive: false,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as Entry }
}

/** Reads tokens until their entries fill a slice of the index. @returns id of the reader */
export async function fillLog(address: string, manager: string): Promise<string> {
  const permissions = ['token:create', 'token:read']
  const application = { name: 'reader', type: 'private', permissions }
  const made = (await request(address, manager, '/applications', application)).body
  const key = String(made['key'])
  for (const id of ids) {
    const token = { id, type: 'token', data: 'x' }
    expect((await request(address, key, '/tokens', token)).status).toBe(201)
  }
  for (let done = 0; done < reads; done += atOnce) {
    const some = Array.from({ length: atOnce }, (_, i) => ids[(done + i) % ids.length] ?? ids[0])
    const answers = await Promise.all(some.map(id => request(address, key, `/tokens/${id}`)))
    expect(answers.map(({ status }) => status)).toEqual(some.map(() => 200))
  }
  return String(made['id'])
}

const entriesIn = (exported: string): readonly Entry[] =>
  exported
    .split('\n')
    .filter(line => line.startsWith('{"sequence":'))
    .map(line => {
      const { sequence, entry } = JSON.parse(line) as { sequence: number; entry: Entry }
      return { ...entry, sequence }
    })

const filtersFor = (actorId: string): readonly Readonly<Record<string, string>>[] => [
  { entity_id: 'card-1' },
  { entity_id: 'card-2', operation: 'createToken' },
  { entity_id: 'nobody' },
  { actor_id: actorId },
  { actor_id: actorId, transform: 'mask', result: '200' },
  { operation: 'getToken', entity_type: 'token' },
]

/** @param more words of `init`: where the vault keeps its rows */
export async function expectFoundByWorkers(...more: readonly string[]): Promise<void> {
  const data = join(temporaryFolder(), 'v')
  const { stdout } = await runCoffer(['init', '--data', data, '--json', ...more])
  const manager = (JSON.parse(stdout) as { key: string }).key
  const words = ['serve', '--data', data, '--port', '0', '--workers', '3']
  const { server, lines } = await startLogged(words)
  const address = /http:\S+/.exec(server.ready)?.[0] ?? ''
  const actorId = await fillLog(address, manager)
  await until(async () => (await indexedIn(data)) === logSliceEntries)
  // Entries of readings from now on stand behind all of these.
  const all = entriesIn((await runCoffer(['audit', 'export', '--data', data])).stdout)
  expect(all.length).toBeGreaterThan(reads)
  for (const filters of filtersFor(actorId)) {
    const asked = Object.entries(filters)
    const matching = all.filter(entry => asked.every(([name, of]) => String(entry[name]) === of))
    const expected = matching.map(({ sequence }) => sequence).toReversed()
    const query = new URLSearchParams({ ...filters, size: '100' }).toString()
    const one = () => request(address, manager, `/logs?${query}`)
    for (const { status, body } of await Promise.all(Array.from({ length: 6 }, one))) {
      const found = (body['data'] as readonly Entry[]).map(({ sequence }) => sequence)
      const { total_items } = body['pagination'] as Entry
      expect([status, filters, total_items]).toEqual([200, filters, expected.length])
      expect(found).toEqual(expected.slice(0, 100))
    }
  }
  expect(await server.end('SIGTERM')).toBe(0)
  const failed = lines().filter(({ event }) => String(event).startsWith('audit_not_'))
  expect(failed).toEqual([])
}
