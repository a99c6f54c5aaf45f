/**
 * `coffer token reindex` beside vaults that several processes serve, from a folder and a database.
 * @module
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createClient, type Client, type NewToken } from '../../../src/client/index.ts'
import { runCoffer, startCoffer } from '../../support/coffer-process.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { findPort } from '../../support/free-port.ts'
import { isPostgresThere, nextSchema, startPostgres } from '../../support/postgres.ts'

const count = 600

/** The URL of a store, or nothing for the folder itself. */
type OpenStore = (cleanUps: (() => Promise<unknown>)[]) => Promise<readonly string[]>

const inDatabase: OpenStore = async cleanUps => {
  const port = findPort()
  const server = await startPostgres({ port })
  cleanUps.push(() => server.stop())
  const url = `postgres://postgres@127.0.0.1:${port}/postgres?schema=${nextSchema()}`
  return ['--store', url]
}

const stores: readonly (readonly [string, OpenStore])[] = [
  ['in a folder, with three workers', () => Promise.resolve([])],
  // .ci/run installs it.
  ...(isPostgresThere ? [['in PostgreSQL, with three workers', inDatabase] as const] : []),
]

async function serve(openStore: OpenStore, cleanUps: (() => Promise<unknown>)[]) {
  const data = join(temporaryFolder(), 'v')
  const store = await openStore(cleanUps)
  const { stdout } = await runCoffer(['init', '--data', data, '--json', ...store])
  const server = await startCoffer(['serve', '--data', data, '--port', '0', '--workers', '3'])
  cleanUps.unshift(() => server.end('SIGTERM'))
  const address = `http://127.0.0.1:${/:(\d+)\s*$/.exec(server.ready)?.[1]}`
  const manager = createClient({ address, key: (JSON.parse(stdout) as { key: string }).key })
  const permissions = ['token:create', 'token:search', 'token:update', 'token:delete'] as const
  const rule = { priority: 1, container: '/', transform: 'reveal', permissions } as const
  const { key } = await manager.applications.create({
    name: 'all',
    type: 'private',
    rules: [rule],
  })
  if (key === undefined) throw new Error('expected a key')
  return { address, key }
}

const tokenOf = (at: number): NewToken => ({
  id: `tok-${at}`,
  type: 'token',
  data: `old-${at}`,
  search_indexes: ['{{ data }}'],
})

const totalOf = async ({ tokens }: Client, query: string): Promise<number> =>
  (await tokens.searchPage({ query, size: 1 })).pagination.total_items

describe.each(stores)('coffer token reindex beside a vault %s', (_, openStore) => {
  const cleanUps: (() => Promise<unknown>)[] = []
  afterAll(async () => {
    for (const cleanUp of cleanUps) await cleanUp()
  })

  // proves C9.7
  test('changes all that is there at its end, while others change and delete', async () => {
    const { address, key } = await serve(openStore, cleanUps)
    const client = createClient({ address, key })
    await client.tokenizeEach(Array.from({ length: count }, (__, at) => tokenOf(at)))
    const words = ['token', 'reindex', '--where', 'type:token', '--json']
    const index = ['--index', '{{ data | slice: 0, 3 }}', '{{ data | upcase }}']
    const env = { COFFER_ADDR: address, COFFER_KEY: key }
    const running = runCoffer([...words, ...index], { env })
    const others = Array.from({ length: count / 10 }, (__, at) => 10 * at)
    for (const at of others) {
      await client.tokens.update(`tok-${at}`, { data: `new-${at}` })
      await client.tokens.delete(`tok-${at + 1}`)
    }
    const { exitCode, stdout, stderr } = await running
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({ unchanged: 0, refused: [] })
    expect(await totalOf(client, 'data:old')).toBe(count - 2 * others.length)
    expect(await totalOf(client, 'data:new')).toBe(others.length)
    for (const at of others) {
      expect(await totalOf(client, `data:new-${at} AND id:tok-${at}`)).toBe(1)
      expect(await totalOf(client, `data:old-${at}`)).toBe(0)
    }
    const again = await runCoffer([...words, ...index], { env })
    const left = count - others.length
    expect(JSON.parse(again.stdout)).toMatchObject({ found: left, changed: 0, unchanged: left })
  }, 300_000)
})
