/**
 * A thief of the database finds nothing that was stored, in any usual encoding.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { askOnce } from '../support/connection.ts'
import { temporaryFolder } from '../support/folders.ts'
import { encodingsOf, findLeaks } from '../support/leaks/encodings.ts'
import { dumpOf, isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'

const tokens = 60
/** All texts of all tokens hold it, so that one search finds any of them. */
const core = 'canary-of-a-database'
const permissions = ['token:create', 'token:read', 'token:delete', 'token:search']
const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]

const tokenOf = (count: number) => ({
  id: `${core}-id-${count}`,
  type: 'token',
  data: { number: '4242424242424242', name: `${core}-data-${count}` },
  metadata: { [`${core}-key-${count}`]: `${core}-value` },
  containers: [`/${core}-container-${count % 7}/`],
  search_indexes: ['{{ data.name }}'],
})

/** Returns the text, and the bytes of its hexadecimal literals. */
function partsOf(dump: string): (readonly [string, Buffer])[] {
  const literals = [...dump.matchAll(/\\\\x([0-9a-f]+)/g)].map(([, hex = '']) => hex)
  return [
    ['text', Buffer.from(dump)],
    ['literals', Buffer.concat(literals.flatMap(hex => [Buffer.from(hex, 'hex'), Buffer.of(0)]))],
  ]
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a dump of the database', () => {
  test('holds no value, name, id or key, and what was put there on purpose is found', async () => {
    const server = await sharedPostgres()
    const schema = nextSchema()
    const folder = temporaryFolder()
    const [data, socket] = [join(folder, 'vault'), join(folder, 'socket')]
    const words = ['--data', data, '--store', server.url(schema), '--json']
    const made = JSON.parse((await runCoffer(['init', ...words])).stdout) as Record<string, string>
    const vault = await startCoffer(['serve', '--data', data, '--socket', socket])
    const ask = (key: string, method: string, path: string, body?: object) =>
      askOnce({ unix: socket }, method, path, { key, body })
    const application = { name: `${core}-app`, type: 'private', permissions, rules }
    const { text } = await ask(made['key'] ?? '', 'POST', '/applications', application)
    const { key } = JSON.parse(text) as { key: string }
    for (let count = 0; count < tokens; count += 1) {
      expect((await ask(key, 'POST', '/tokens', tokenOf(count))).status).toBe(201)
      if (count % 10 === 0) await ask(key, 'DELETE', `/tokens/${core}-id-${count}`)
    }
    await ask(key, 'POST', '/tokens/search', { query: `data:${core}-data-3` })
    expect(await vault.end('SIGTERM')).toBe(0)
    const sentinels = [core, '4242424242424242', key, made['key'] ?? '', made['tenant_id'] ?? '']
    const needles = new Map(sentinels.map(each => [each, encodingsOf(each)]))
    const dump = await dumpOf(server, schema)
    const literals = partsOf(dump)
    expect(literals[1]?.[1].length).toBeGreaterThan(tokens * 300)
    expect(findLeaks(literals, needles)).toEqual([])
    await server.sql.unsafe(`CREATE TABLE ${schema}.control (value bytea)`)
    const planted = `INSERT INTO ${schema}.control VALUES (decode($1, 'hex'))`
    await server.sql.unsafe(planted, [Buffer.from(`before${core}behind`).toString('hex')])
    expect(findLeaks(partsOf(await dumpOf(server, schema)), needles)).not.toEqual([])
  }, 300_000)
})
