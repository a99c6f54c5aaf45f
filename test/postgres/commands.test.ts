/**
 * A vault in PostgreSQL by the commands of a person: made, joined by another machine, served,
 * rotated, verified; and a vault of a folder that is moved there.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import {
  isPostgresThere,
  nextSchema,
  sharedPostgres,
  type TestServer,
} from '../support/postgres.ts'
import { addReader, ask, serve } from './served.ts'
import { expectRefused } from './refused.ts'

const card = { id: 'card-1', type: 'card', data: { number: '4242424242424242' } }
const number = card.data.number

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a vault in PostgreSQL', () => {
  let server: TestServer
  let root: string
  let url: string
  let first: string
  let second: string
  let key: string
  const sockets = (): [string, string] => [join(root, 'one.sock'), join(root, 'two.sock')]

  beforeAll(async () => {
    server = await sharedPostgres()
    root = temporaryFolder()
    url = server.url(nextSchema())
    ;[first, second] = [join(root, 'one'), join(root, 'two')]
    const made = await runCoffer(['init', '--data', first, '--store', url, '--json'])
    expect(made.exitCode).toBe(0)
    key = String((JSON.parse(made.stdout) as Record<string, unknown>)['key'])
  })

  test('has no file of rows in its folder, and no password', () => {
    expect(readdirSync(join(first, 'store'))).toEqual(['database'])
    expect(readFileSync(join(first, 'store', 'database'), 'utf8')).not.toContain('hunter2')
  })

  test('is answered alike by a second machine that joins, also after a rotation', async () => {
    const [one, two] = sockets()
    const vault = await serve(first, one)
    const masterKey = join(first, 'master.key')
    const other = await serve(second, two, '--store', url, '--master-key-file', masterKey)
    const reader = await addReader(one, key)
    expect((await ask(one, reader, '/tokens', card)).status).toBe(201)
    const read = async (socket: string) =>
      (await ask(socket, reader, '/tokens/card-1')).body['data']
    expect([await read(one), await read(two)]).toEqual([card.data, card.data])
    expect((await ask(two, reader, '/tokens', card)).status).toBe(409)
    expect((await runCoffer(['keys', 'rotate', '--data', first])).exitCode).toBe(0)
    expect(await read(two)).toEqual(card.data)
    const retired = await runCoffer([
      'keys',
      'retire',
      '--data',
      second,
      '--master-key-file',
      masterKey,
    ])
    expect([retired.exitCode, retired.stdout]).toEqual([0, expect.stringContaining('it is gone')])
    expect([await read(one), await read(two)]).toEqual([card.data, card.data])
    const { body } = await ask(two, reader, '/tokens/search', { query: 'type:card', size: 5 })
    expect(body['pagination']).toMatchObject({ total_items: 1 })
    expect(await Promise.all([vault.end('SIGTERM'), other.end('SIGTERM')])).toEqual([0, 0])
    expect(await runCoffer(['verify', '--data', first])).toMatchObject({ exitCode: 0 })
  })

  test('is not made a second time, and is of no other folder', async () => {
    const again = ['init', '--data', join(root, 'again'), '--store', url]
    expectRefused(await runCoffer(again), 'the database has a vault')
    expect(readdirSync(join(root, 'again'))).toEqual([])
    const elsewhere = ['keys', 'status', '--data', first, '--store', server.url('elsewhere')]
    expectRefused(await runCoffer(elsewhere), 'is of another database')
  })

  test('is not made in a schema of something else, which stays', async () => {
    const schema = nextSchema()
    await server.sql.unsafe(`CREATE SCHEMA ${schema}`)
    const data = join(root, 'unmade')
    const refused = await runCoffer(['init', '--data', data, '--store', server.url(schema)])
    expectRefused(refused, 'has that schema already, and no vault in it: name another by schema=')
    expect(readdirSync(data)).toEqual([])
    await server.sql.unsafe(`DROP SCHEMA ${schema}`)
  })

  test('is not opened with another master key', async () => {
    const other = join(root, 'other')
    await runCoffer(['init', '--data', other])
    const masterKey = join(other, 'master.key')
    const words = ['--store', url, '--master-key-file', masterKey]
    const refused = await runCoffer(['verify', '--data', join(root, 'joined'), ...words])
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('master key')])
  })

  test('is of two that are made at once one, and the other is refused', async () => {
    const raced = server.url(nextSchema())
    const folders = ['left', 'right'].map(name => join(root, name))
    const ended = await Promise.all(
      folders.map(data => runCoffer(['init', '--data', data, '--store', raced])),
    )
    const [won, lost] = ended.toSorted((a, b) => a.exitCode - b.exitCode)
    expect([won?.exitCode, lost?.exitCode]).toEqual([0, 1])
    if (lost !== undefined) expectRefused(lost, 'the database')
    const at = ended.findIndex(({ exitCode }) => exitCode === 0)
    const [data = '', other = ''] = at === 0 ? folders : folders.toReversed()
    expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 0 })
    expect(readdirSync(other)).toEqual([])
  })

  test.each([
    ['that is empty', '', 'is damaged'],
    ['that is no JSON', '{"url": "postgres://coffer:hunter2@', 'is damaged'],
    ['without a URL', '{"uri": "postgres://coffer:hunter2@localhost/coffer"}', 'is damaged'],
    ['with a URL that is none', '{"url": "hunter2"}', '--store: is not a URL'],
    [
      'whose file of a password is gone',
      '{"url": "postgres://coffer@127.0.0.1:1/coffer", "password_file": "/nowhere/hunter2"}',
      'cannot be read',
    ],
  ])('is not looked for by a file %s', async (_, text, says) => {
    const data = join(temporaryFolder(), 'v')
    const made = await runCoffer(['init', '--data', data, '--store', server.url(nextSchema())])
    expect(made.exitCode).toBe(0)
    const place = join(data, 'store', 'database')
    writeFileSync(place, text)
    const refused = await runCoffer(['keys', 'status', '--data', data])
    expectRefused(refused, says, refused.exitCode)
    expect(refused.exitCode).toBeGreaterThan(0)
    expect(readFileSync(place, 'utf8')).toBe(text)
  })

  test('is backed up and compacted by its database alone', async () => {
    for (const words of [['backup', '--to', join(root, 'b')], ['compact']]) {
      expectRefused(await runCoffer([...words, '--data', first]), 'the vault is in a database')
    }
  })

  test('has its password from the environment or a file, and never from an argument', async () => {
    const withPassword = 'postgres://coffer:hunter2@localhost/coffer'
    const refused = await runCoffer(['init', '--data', join(root, 'x'), '--store', withPassword])
    expectRefused(refused, 'expected no password', 2)
    expect(existsSync(join(root, 'x'))).toBe(false)
  })

  test('goes by the file of a password that is given, and remembers that one', async () => {
    const data = join(temporaryFolder(), 'v')
    const store = ['--store', server.url(nextSchema())]
    const made = await runCoffer(['init', '--data', data, ...store])
    expect(made.exitCode).toBe(0)
    const status = (file: string) =>
      runCoffer(['keys', 'status', '--data', data, '--store-password-file', file])
    const place = join(data, 'store', 'database')
    const before = readFileSync(place, 'utf8')
    expectRefused(await status('/nowhere'), 'the file of --store-password-file cannot be read')
    expect(readFileSync(place, 'utf8')).toBe(before)
    const file = join(temporaryFolder(), 'password')
    writeFileSync(file, 'of nobody')
    expect((await status(file)).exitCode).toBe(0)
    expect(JSON.parse(readFileSync(place, 'utf8'))).toMatchObject({ password_file: file })
  })

  test.each([
    ['that is down', 'postgres://coffer@127.0.0.1:1/coffer', 1, 'does not answer'],
    ['beyond this machine without TLS', 'postgres://coffer@db.example/coffer', 2, 'verify-full'],
    ['with escapes that are none', 'postgres://%zz@localhost/coffer', 2, 'expected escapes'],
    ['of another kind', 'mysql://coffer@localhost/coffer', 2, 'expected postgres:'],
  ])('is refused in one line in a database %s', async (_, store, code, says) => {
    const data = temporaryFolder()
    expectRefused(await runCoffer(['init', '--data', data, '--store', store]), says, code)
    expect(readdirSync(data)).toEqual([])
  })

  test('has tables that somebody else has made, and a user that owns nothing', async () => {
    const [schema, role] = [nextSchema(), `r_${nextSchema()}`]
    const words = ['db', 'setup', '--print-sql', '--schema', schema, '--role', role]
    const { stdout, exitCode } = await runCoffer(words)
    expect(exitCode).toBe(0)
    await server.sql.unsafe(`CREATE ROLE ${role} LOGIN`)
    await server.sql.unsafe(stdout)
    const data = join(root, 'granted')
    const store = server.url(schema).replace('postgres@', `${role}@`)
    expect(await runCoffer(['init', '--data', data, '--store', store])).toMatchObject({
      exitCode: 0,
    })
    expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 0 })
    // As an older coffer made them.
    const ofLog = ['log', 'derived', 'log_range'].map(name => `${schema}.${name}`)
    await server.sql.unsafe(`DROP TABLE ${ofLog.join(', ')}`)
    const remedy = 'somebody who may is to run what coffer db setup --print-sql --upgrade prints'
    expectRefused(await runCoffer(['keys', 'status', '--data', data]), remedy)
    const told = await runCoffer(['doctor', '--data', data])
    expect([told.exitCode, told.stdout]).toEqual([1, expect.stringContaining(remedy)])
    const upgrade = await runCoffer([...words, '--upgrade'])
    await server.sql.unsafe(upgrade.stdout)
    expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 0 })
    await server.sql.unsafe(`REVOKE ALL ON ALL TABLES IN SCHEMA ${schema} FROM ${role}`)
    expectRefused(await runCoffer(['keys', 'status', '--data', data]), 'refuses this user')
    expectRefused(await runCoffer(['db', 'setup', '--schema', 'a"b']), '--print-sql', 2)
    const quoted = ['db', 'setup', '--print-sql', '--schema', 'a"b']
    expectRefused(await runCoffer(quoted), '--schema: expected small letters', 2)
  })

  test('is moved there from its folder, and answers as before', async () => {
    const data = join(root, 'moved')
    const socket = join(root, 'moved.sock')
    const made = await runCoffer(['init', '--data', data, '--json'])
    const own = String((JSON.parse(made.stdout) as Record<string, unknown>)['key'])
    const before = await serve(data, socket)
    const reader = await addReader(socket, own)
    await ask(socket, reader, '/tokens', card)
    expect(await before.end('SIGTERM')).toBe(0)
    const target = server.url(nextSchema())
    const moved = await runCoffer(['move', '--data', data, '--to', target])
    expect([moved.exitCode, moved.stdout]).toEqual([0, expect.stringContaining('were moved')])
    expect(readdirSync(join(data, 'store')).sort()).toEqual(['data.mdb.moved', 'database'])
    const after = await serve(data, socket)
    expect((await ask(socket, reader, '/tokens/card-1')).body['data']).toEqual({ number })
    expect(await after.end('SIGTERM')).toBe(0)
    expectRefused(await runCoffer(['move', '--data', data, '--to', target]), 'moved already')
    const other = join(root, 'unmoved')
    await runCoffer(['init', '--data', other])
    const refused = await runCoffer(['move', '--data', other, '--to', target])
    expectRefused(refused, 'the database has a vault')
    // Otherwise it would be taken for a copy of this one, and dropped.
    expect(existsSync(join(other, 'store', 'database.left'))).toBe(false)
    const left = join(data, 'store', 'database.left')
    // As a move leaves it that was killed at its last step.
    writeFileSync(left, `${JSON.stringify({ url: target })}\n`)
    const looked = await runCoffer(['doctor', '--data', data])
    expect(looked.stdout).toContain('is what the vault was before it moved')
    // The schema is the vault's own by now.
    expect(looked.stdout).not.toContain('drop its schema')
    expect((await runCoffer(['app', 'list', '--data', data])).exitCode).toBe(0)
    expect(existsSync(left)).toBe(false)
    const foreign = nextSchema()
    await server.sql.unsafe(`CREATE SCHEMA ${foreign}`)
    const into = ['move', '--data', other, '--to', server.url(foreign)]
    expectRefused(await runCoffer(into), 'has that schema already, and no vault in it')
    expect(existsSync(join(other, 'store', 'database.left'))).toBe(false)
  })

  test('the master key is not replaced while another machine serves', async () => {
    const root = temporaryFolder()
    const [first, second] = [join(root, 'first'), join(root, 'second')]
    const store = ['--store', server.url(nextSchema())]
    expect((await runCoffer(['init', '--data', first, ...store])).exitCode).toBe(0)
    const file = join(first, 'master.key')
    const before = readFileSync(file, 'utf8')
    const other = await serve(second, join(root, 's'), ...store, '--master-key-file', file)
    const refused = await runCoffer(['keys', 'rekey', '--data', first])
    expectRefused(refused, 'stop all, run this again, start them')
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(await other.end('SIGTERM')).toBe(0)
    expect((await runCoffer(['keys', 'rekey', '--data', first])).exitCode).toBe(0)
  }, 300_000)
})
