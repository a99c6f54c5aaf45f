/**
 * A served vault whose database somebody changes under it: changed rows are answered with an error
 * that repeats nothing, all others as before.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { askOnce, type Answer } from '../support/connection.ts'
import { temporaryFolder } from '../support/folders.ts'
import {
  isPostgresThere,
  nextSchema,
  sharedPostgres,
  type TestServer,
} from '../support/postgres.ts'

const permissions = ['create', 'read', 'update', 'search', 'delete'].map(each => `token:${each}`)
const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
const secret = (name: string): string => `canary of ${name}`

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('under a vault that serves', () => {
  let server: TestServer
  let schema: string
  let data: string
  let socket: string
  let vault: Running
  let key: string
  const ordinals = new Map<string, number>()

  const ask = (by: string, method: string, path: string, body?: object): Promise<Answer> =>
    askOnce({ unix: socket }, method, path, { key: by, body })
  const run = (sql: string) => server.sql.unsafe(sql.replaceAll('@', `${schema}.`))
  const read = (id: string) => ask(key, 'GET', `/tokens/${id}`)
  const create = async (id: string): Promise<void> => {
    const body = { id, type: 'token', data: secret(id), metadata: { group: 'one' } }
    expect((await ask(key, 'POST', '/tokens', body)).status).toBe(201)
    const rows: unknown = await run('SELECT max(ordinal) FROM @rows').values()
    ordinals.set(id, Number((rows as readonly (readonly unknown[])[])[0]?.[0]))
  }
  const at = (id: string): number => ordinals.get(id) ?? 0

  beforeAll(async () => {
    server = await sharedPostgres()
    schema = nextSchema()
    const root = temporaryFolder()
    ;[data, socket] = [join(root, 'vault'), join(root, 'socket')]
    const made = await runCoffer(['init', '--data', data, '--store', server.url(schema), '--json'])
    const { key: managementKey } = JSON.parse(made.stdout) as { key: string }
    vault = await startCoffer(['serve', '--data', data, '--socket', socket])
    const body = { name: 'reader', type: 'private', permissions, rules }
    const { text } = await ask(managementKey, 'POST', '/applications', body)
    key = (JSON.parse(text) as { key: string }).key
  }, 300_000)
  afterAll(() => vault.end('SIGTERM'))

  function expectUntold({ status, text }: Answer): void {
    expect(status).toBe(500)
    expect(text).not.toMatch(/canary|[0-9a-f]{32}|ordinal|unique|postgres/i)
  }

  test.each([
    [
      'bytes of its value',
      'set_byte(value, length(value) - 1, 7 # get_byte(value, length(value) - 1))',
    ],
    ['bytes of its header', 'set_byte(value, 40, 7 # get_byte(value, 40))'],
    ['its end', 'substring(value FROM 1 FOR length(value) - 9)'],
    ['all of it', `'\\x00'::bytea`],
  ])('a row that has lost %s is no answer', async (_, value) => {
    const id = `changed-${Bun.hash(value)}`
    await create(id)
    await create(`beside-${id}`)
    await run(`CREATE TABLE @kept AS SELECT * FROM @rows WHERE ordinal = ${at(id)}`)
    await run(`UPDATE @rows SET value = ${value} WHERE ordinal = ${at(id)}`)
    expectUntold(await read(id))
    expectUntold(await ask(key, 'GET', '/tokens?metadata.group=one'))
    expect(await read(`beside-${id}`)).toMatchObject({ status: 200 })
    await run('UPDATE @rows r SET value = k.value FROM @kept k WHERE r.ordinal = k.ordinal')
    await run('DROP TABLE @kept')
    expect((await read(id)).text).toContain(secret(id))
  })

  test('two rows that were swapped are answered for none of both', async () => {
    await create('left')
    await create('right')
    const swap = `UPDATE @rows r SET value = o.value, version = o.version FROM @rows o
WHERE (r.ordinal, o.ordinal) IN ((${at('left')}, ${at('right')}), (${at('right')}, ${at('left')}))`
    await run(swap)
    expectUntold(await read('left'))
    expectUntold(await read('right'))
    await run(swap)
    expect((await read('left')).text).toContain(secret('left'))
  })

  test('a unique that leads to another row is no answer', async () => {
    await create('mine')
    await create('yours')
    await run(`CREATE TABLE @led AS SELECT * FROM @uniques WHERE ordinal = ${at('mine')}`)
    await run(`UPDATE @uniques SET ordinal = ${at('yours')} WHERE ordinal = ${at('mine')}`)
    expectUntold(await read('mine'))
    expect((await read('yours')).text).toContain(secret('yours'))
    await run('UPDATE @uniques u SET ordinal = l.ordinal FROM @led l WHERE u.digest = l.digest')
    await run('DROP TABLE @led')
    expect((await read('mine')).text).toContain(secret('mine'))
  })

  // proves S10
  test('an older version of a row alone is no answer', async () => {
    const body = { id: 'renewed', type: 'token', data: secret('renewed'), metadata: { of: 'old' } }
    expect((await ask(key, 'POST', '/tokens', body)).status).toBe(201)
    await run(`CREATE TABLE @older AS SELECT * FROM @rows ORDER BY ordinal DESC LIMIT 1`)
    const renewed = await ask(key, 'PATCH', '/tokens/renewed', { data: secret('what is new') })
    expect(renewed.status).toBe(200)
    for (const columns of ['value = o.value', 'value = o.value, version = o.version']) {
      await run(`UPDATE @rows r SET ${columns} FROM @older o WHERE r.ordinal = o.ordinal`)
      expectUntold(await read('renewed'))
      expectUntold(await ask(key, 'GET', '/tokens?metadata.of=old'))
      expectUntold(await ask(key, 'POST', '/tokens/search', { query: 'metadata.of:old' }))
    }
  })

  // proves S10
  test('a deleted token whose row and terms alone came back is no answer', async () => {
    const body = { id: 'deleted', type: 'token', data: secret('deleted'), metadata: { of: 'gone' } }
    expect((await ask(key, 'POST', '/tokens', body)).status).toBe(201)
    for (const table of ['rows', 'recent']) {
      await run(
        `CREATE TABLE @of_${table} AS SELECT * FROM @${table} ORDER BY ordinal DESC LIMIT 1`,
      )
    }
    expect((await ask(key, 'DELETE', '/tokens/deleted')).status).toBe(204)
    expect((await ask(key, 'GET', '/tokens?metadata.of=gone')).text).not.toContain('canary')
    for (const table of ['rows', 'recent']) {
      await run(`INSERT INTO @${table} SELECT * FROM @of_${table}`)
    }
    expect((await read('deleted')).status).toBe(404)
    expectUntold(await ask(key, 'GET', '/tokens?metadata.of=gone'))
    expectUntold(await ask(key, 'POST', '/tokens/search', { query: 'metadata.of:gone' }))
  })

  // proves S10
  test('rows that have changed places are no answer', async () => {
    for (const id of ['here', 'there']) {
      const body = { id, type: 'token', data: secret(id), metadata: { of: 'places' } }
      expect((await ask(key, 'POST', '/tokens', body)).status).toBe(201)
    }
    await run(`WITH two AS (SELECT * FROM @rows ORDER BY ordinal DESC LIMIT 2)
UPDATE @rows r SET value = other.value FROM two JOIN two other ON two.ordinal <> other.ordinal
WHERE r.ordinal = two.ordinal`)
    expectUntold(await read('here'))
    expectUntold(await ask(key, 'GET', '/tokens?metadata.of=places'))
  })

  test('a row that ends by its column alone is not removed', async () => {
    const body = { type: 'token', data: secret('lasting') }
    expect((await ask(key, 'POST', '/tokens', { ...body, id: 'lasting' })).status).toBe(201)
    await run(`UPDATE @rows SET deadline_ms = 1 WHERE ordinal = (SELECT max(ordinal) FROM @rows)`)
    const ends = { expires_at: new Date(Date.now() + 15_000).toISOString() }
    const ending = await ask(key, 'POST', '/tokens', { ...body, ...ends, id: 'ending' })
    expect(ending.status).toBe(201)
    const ended = `SELECT 1 FROM @rows WHERE deadline_ms > 1`
    while (((await run(ended)) as readonly unknown[]).length > 0) await Bun.sleep(100)
    expect(await read('lasting')).toMatchObject({ status: 200 })
  }, 300_000)

  test('a row that is gone is no absence, and verify names it', async () => {
    await create('gone')
    await run(`DELETE FROM @rows WHERE ordinal = ${at('gone')}`)
    const { status, text } = await read('gone')
    expect([status, text.includes('canary')]).toEqual([500, false])
    expect((await runCoffer(['verify', '--data', data, '--online'])).exitCode).not.toBe(0)
  })
})
