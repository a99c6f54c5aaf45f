/**
 * Another application of the same database, whose user may make functions in `public`, as anyone
 * may by default before PostgreSQL 15. Statements of the vault must never run one.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { SQL } from 'bun'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, startPostgres, type TestServer } from '../support/postgres.ts'
import { addReader, ask, serve } from './served.ts'

const noting = (result: string): string => `LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO public.caught VALUES (current_user); RETURN ${result}; END $$`

/** Each of these functions does what the database's own does, and fits a call better. */
const traps = [
  'CREATE TABLE public.caught (by_user text)',
  'GRANT INSERT ON public.caught TO PUBLIC',
  `CREATE FUNCTION public.unnest(int[]) RETURNS SETOF int
${noting('QUERY SELECT pg_catalog.unnest($1)')}`,
  `CREATE FUNCTION public.joined(bytea, bytea, text) RETURNS bytea
${noting("coalesce($1, '') || $2")}`,
  'CREATE AGGREGATE public.string_agg(bytea, text) (SFUNC = public.joined, STYPE = bytea)',
  `CREATE FUNCTION public.added(bigint[], bigint) RETURNS bigint[]
${noting('array_append($1, $2)')}`,
  'CREATE AGGREGATE public.array_agg(bigint) (SFUNC = public.added, STYPE = bigint[])',
  `CREATE FUNCTION public.is_same(bigint[], bigint[]) RETURNS boolean
${noting('$1 OPERATOR(pg_catalog.=) $2')}`,
  `CREATE OPERATOR public.= (
  FUNCTION = public.is_same, LEFTARG = bigint[], RIGHTARG = bigint[])`,
  `CREATE FUNCTION public.times(int, interval) RETURNS interval ${noting('$1::float8 * $2')}`,
  'CREATE OPERATOR public.* (FUNCTION = public.times, LEFTARG = int, RIGHTARG = interval)',
]

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('another application of the database', () => {
  let server: TestServer
  let other: SQL
  const open = (username: string): SQL =>
    new SQL({
      adapter: 'postgres',
      path: server.socket,
      database: 'postgres',
      username,
      password: '',
      tls: false,
      max: 1,
    })
  beforeAll(async () => {
    // Another server than that of other tests, which could run what is in its `public`.
    server = await startPostgres()
    for (const text of [
      'GRANT CREATE ON SCHEMA public TO PUBLIC',
      'CREATE ROLE vault LOGIN',
      'CREATE ROLE other LOGIN',
      'GRANT CREATE ON DATABASE postgres TO vault',
    ]) {
      await server.sql.unsafe(text)
    }
    other = open('other')
    for (const text of traps) await other.unsafe(text)
  }, 300_000)
  afterAll(async () => {
    await other.close({ timeout: 0 })
    await server.stop()
  })

  const caught = async (): Promise<unknown[]> => [
    ...(await other.unsafe('SELECT DISTINCT by_user FROM public.caught')),
  ]

  // proves E30.1
  test('has none of its functions run by a vault', async () => {
    const folder = temporaryFolder()
    const [data, socket] = [join(folder, 'v'), join(folder, 's')]
    const store = server.url('coffer').replace('postgres@', 'vault@')
    const { stdout } = await runCoffer(['init', '--data', data, '--store', store, '--json'])
    const { key } = JSON.parse(stdout) as { key: string }
    const running = await serve(data, socket)
    const reader = await addReader(socket, key)
    const token = { id: 'order-17', type: 'token', data: 'x' }
    expect((await ask(socket, reader, '/tokens', token)).status).toBe(201)
    expect((await ask(socket, reader, '/tokens/order-17')).body['data']).toBe('x')
    const found = await ask(socket, reader, '/tokens/search', { query: 'type:token' })
    expect(found.body['data']).toHaveLength(1)
    const change = { metadata: { order: '17' } }
    expect((await ask(socket, reader, '/tokens/order-17', change, 'PATCH')).status).toBe(200)
    expect((await ask(socket, reader, '/tokens/order-17', undefined, 'DELETE')).status).toBe(204)
    expect(await running.end('SIGTERM')).toBe(0)
    for (const command of ['verify', 'doctor']) await runCoffer([command, '--data', data])
    expect(await caught()).toEqual([])
  }, 300_000)

  // proves E30.1
  test('is named as a danger behind a pool, where the user needs the setting', async () => {
    const pooled = `${server.url('elsewhere')}&pgbouncer=true`
    const words = ['doctor', '--data', join(temporaryFolder(), 'none'), '--store', pooled]
    const { stdout } = await runCoffer(words)
    expect(stdout).toContain('ALTER ROLE … SET search_path = pg_catalog')
    const { stdout: setup } = await runCoffer(['db', 'setup', '--print-sql', '--role', 'vault'])
    expect(setup).toContain('ALTER ROLE vault SET search_path = pg_catalog;')
  })

  // proves E30.3
  test.each([
    ['that made the tables before the vault is named by doctor', 'taken', () => other, true],
    ['is not named where an administrator made them', 'given', () => server.sql, false],
  ])('%s', async (_, schema, maker, isNamed) => {
    await server.sql.unsafe('GRANT CREATE ON DATABASE postgres TO other')
    const words = ['db', 'setup', '--print-sql', '--role', 'vault', '--schema', schema]
    const { stdout: setup } = await runCoffer(words)
    for (const text of setup.split(/;\n(?!\s*(?:RAISE|EXCEPTION|END))/)) {
      if (/^(?:CREATE|INSERT|ALTER TABLE|GRANT)/.test(text)) await maker().unsafe(text)
    }
    const data = join(temporaryFolder(), 'v')
    const store = server.url(schema).replace('postgres@', 'vault@')
    expect(await runCoffer(['init', '--data', data, '--store', store])).toMatchObject({
      exitCode: 0,
    })
    const { stdout } = await runCoffer(['doctor', '--data', data])
    expect(stdout.includes('see that it is an administrator')).toBe(isNamed)
  })
})
