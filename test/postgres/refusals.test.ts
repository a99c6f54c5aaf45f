/**
 * Databases that a vault may not, or cannot, be in: each is refused in one line, which repeats
 * neither an address nor a password.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSigned, signedBy, type CertificateFiles } from '../support/certificates.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { findPort } from '../support/free-port.ts'
import {
  isPostgresThere,
  nextSchema,
  run,
  startPostgres,
  startStandby,
  type TestServer,
} from '../support/postgres.ts'
import { expectRefused } from './refused.ts'

const password = 'hunter2 %/é'

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('over TLS and with a password', () => {
  let server: TestServer
  let folder: string
  let port: string
  let own: CertificateFiles
  let passwordFile: string

  const useCertificate = (certificate: CertificateFiles): void => {
    for (const [from, to] of [
      [certificate.cert, 'server.pem'],
      [certificate.key, 'server.key'],
    ] as const) {
      copyFileSync(from, join(server.folder, to))
      run(['chown', 'postgres', join(server.folder, to)])
      run(['chmod', '600', join(server.folder, to)])
    }
  }
  const urlOf = (more: string, schema = nextSchema()): string =>
    `postgres://app@127.0.0.1:${port}/postgres?schema=${schema}&${more}`
  const verified = (): string => `sslmode=verify-full&sslrootcert=${encodeURIComponent(own.cert)}`
  const init = (url: string, ...words: string[]) =>
    runCoffer(['init', '--data', join(temporaryFolder(), 'v'), '--store', url, ...words])

  beforeAll(async () => {
    folder = temporaryFolder()
    port = findPort()
    own = selfSigned(folder, 'database')
    passwordFile = join(folder, 'password')
    writeFileSync(passwordFile, `${password}\n`)
    server = await startPostgres({
      port,
      hba: ['hostssl all all 127.0.0.1/32 scram-sha-256'],
    })
    useCertificate(own)
    const { sql } = server
    await sql.unsafe(`ALTER SYSTEM SET ssl_cert_file = '${join(server.folder, 'server.pem')}'`)
    await sql.unsafe(`ALTER SYSTEM SET ssl_key_file = '${join(server.folder, 'server.key')}'`)
    await sql.unsafe('ALTER SYSTEM SET ssl = on')
    await sql.unsafe('SELECT pg_reload_conf()')
    await sql.unsafe(`CREATE ROLE app LOGIN PASSWORD '${password}'`)
    await sql.unsafe('GRANT CREATE ON DATABASE postgres TO app')
  }, 300_000)
  afterAll(() => server.stop())

  test('a vault is made and read, by a password from a file or the environment', async () => {
    const schema = nextSchema()
    const data = join(temporaryFolder(), 'v')
    const url = urlOf(verified(), schema)
    const words = ['--data', data, '--store', url, '--store-password-file', passwordFile]
    expect(await runCoffer(['init', ...words])).toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(data, 'store', 'database'), 'utf8')).not.toContain('hunter2')
    expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 0 })
    const withPassword = url.replace('app@', `app:${encodeURIComponent(password)}@`)
    const joined = join(temporaryFolder(), 'joined')
    const masterKey = join(data, 'master.key')
    const other = await runCoffer(['verify', '--data', joined, '--master-key-file', masterKey], {
      env: { COFFER_STORE: withPassword },
    })
    expect(other).toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(joined, 'store', 'database'), 'utf8')).not.toContain('hunter2')
  })

  test('without a password, or with another one, it is refused', async () => {
    expectRefused(
      await init(urlOf(verified())),
      'refuses the password of this user (SQLSTATE 28P01)',
    )
    const wrong = join(folder, 'wrong')
    writeFileSync(wrong, 'hunter2')
    const refused = await init(urlOf(verified()), '--store-password-file', wrong)
    expectRefused(refused, 'refuses the password of this user (SQLSTATE 28P01)')
    const none = await init(urlOf(verified()), '--store-password-file', join(folder, 'none'))
    expectRefused(none, '--store-password-file cannot be read: check its path')
  })

  test('without TLS it is refused where the database asks for it', async () => {
    const plain = await init(urlOf('sslmode=disable'), '--store-password-file', passwordFile)
    expectRefused(plain, 'SQLSTATE 28000')
  })

  test('a certificate that nobody vouches for, or of another host, ends it', async () => {
    const unknown = await init(urlOf('sslmode=verify-full'), '--store-password-file', passwordFile)
    expectRefused(unknown, 'a certificate that cannot be verified')
    useCertificate(signedBy(own, folder, 'elsewhere'))
    await server.sql.unsafe('SELECT pg_reload_conf()')
    const elsewhere = await init(urlOf(verified()), '--store-password-file', passwordFile)
    expectRefused(elsewhere, 'a certificate that cannot be verified')
    useCertificate(own)
    await server.sql.unsafe('SELECT pg_reload_conf()')
    const right = await init(urlOf(verified()), '--store-password-file', passwordFile)
    expect(right).toMatchObject({ exitCode: 0 })
  })
})

describe.skipIf(!isPostgresThere)('in a database that holds back', () => {
  let server: TestServer
  let schema: string
  let data: string
  const as = (role: string): string => server.url(schema).replace('postgres@', `${role}@`)
  const openAs = (role: string) => {
    const folder = ['--data', join(temporaryFolder(), 'joined')]
    const masterKey = ['--master-key-file', join(data, 'master.key')]
    return runCoffer(['keys', 'status', ...folder, '--store', as(role), ...masterKey])
  }

  beforeAll(async () => {
    server = await startPostgres()
    schema = nextSchema()
    data = join(temporaryFolder(), 'v')
    const made = await runCoffer(['init', '--data', data, '--store', server.url(schema)])
    expect(made.exitCode).toBe(0)
  }, 300_000)
  afterAll(() => server.stop())

  async function addRole(name: string, setting: string): Promise<void> {
    await server.sql.unsafe(`CREATE ROLE ${name} LOGIN SUPERUSER ${setting}`)
  }

  test('connections: it says how many a vault takes', async () => {
    await server.sql.unsafe('CREATE ROLE few LOGIN CONNECTION LIMIT 0')
    expectRefused(await openAs('few'), 'a vault takes up to 9 (SQLSTATE 53300)')
  })

  test('writes: it says that it is to be read alone', async () => {
    await addRole('reads', '')
    await server.sql.unsafe('ALTER ROLE reads SET default_transaction_read_only = on')
    expectRefused(await openAs('reads'), 'set to be read alone (SQLSTATE 25006)')
  })

  test('time: a statement_timeout of its own ends no read of a vault', async () => {
    await addRole('hurried', '')
    const timeoutMs = 50
    await server.sql.unsafe(`ALTER ROLE hurried SET statement_timeout = ${timeoutMs}`)
    const holding = await server.sql.reserve()
    await holding.unsafe('BEGIN')
    await holding.unsafe(`LOCK TABLE ${schema}.state IN ACCESS EXCLUSIVE MODE`)
    const opened = openAs('hurried')
    const isHeldUp = `SELECT FROM pg_stat_activity
WHERE usename = 'hurried' AND wait_event_type = 'Lock'
AND clock_timestamp() - query_start > interval '${4 * timeoutMs} ms'`
    while ((await server.sql.unsafe(isHeldUp)).length === 0) await Bun.sleep(5)
    await holding.unsafe('ROLLBACK')
    await holding.release()
    expect(await opened).toMatchObject({ exitCode: 0 })
  })

  test('being the primary: a standby opens no vault, and none is made in it', async () => {
    const standby = await startStandby(server)
    const url = standby.url(schema)
    const masterKey = ['--master-key-file', join(data, 'master.key')]
    const joined = join(temporaryFolder(), 'joined')
    const served = await runCoffer(['serve', '--data', joined, '--store', url, ...masterKey])
    expectRefused(served, 'it is a standby')
    const fresh = ['init', '--data', join(temporaryFolder(), 'v')]
    expectRefused(await runCoffer([...fresh, '--store', standby.url(nextSchema())]), 'standby')
    await standby.stop()
  }, 300_000)
})
