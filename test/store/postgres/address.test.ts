import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { ApiError } from '../../../src/lib/errors.ts'
import { parseDatabase, printDatabase } from '../../../src/store/postgres/address.ts'
import { temporaryFolder } from '../../support/folders.ts'

describe('the address of a database', () => {
  test('is a host, with what is usual where nothing is said', () => {
    expect(parseDatabase('postgres://localhost/coffer')).toEqual({
      hostname: 'localhost',
      port: 5_432,
      database: 'coffer',
      username: 'coffer',
      prepare: true,
      schema: 'coffer',
    })
  })

  test('beyond this machine is one whose certificate is verified', () => {
    const ca = join(temporaryFolder(), 'ca.pem')
    writeFileSync(ca, 'a certificate')
    const text = `postgresql://app:p%40ss@db.example:6000/vault?sslmode=verify-full&schema=s1`
    const plain = { hostname: 'db.example', port: 6_000, database: 'vault', username: 'app' }
    const rest = { password: 'p@ss', prepare: true, schema: 's1' }
    expect(parseDatabase(text)).toEqual({ ...plain, ...rest, tls: {} })
    const withFile = parseDatabase(`${text}&sslrootcert=${encodeURIComponent(ca)}`)
    expect(withFile.tls).toEqual({ ca: 'a certificate' })
    const given = parseDatabase(text, 'another')
    expect(given.password).toBe('another')
  })

  test.each([
    ['postgres://[::1]/a', '::1'],
    ['postgres://127.0.0.2/a', '127.0.0.2'],
    ['postgres://localhost/a?sslmode=disable', 'localhost'],
  ])('of this machine needs no TLS: %s', (text, hostname) => {
    expect(parseDatabase(text)).toMatchObject({ hostname })
    expect(parseDatabase(text)).not.toHaveProperty('tls')
  })

  test('is one host also where user, password or a parameter has a comma', () => {
    const text = 'postgres://a,b:c,d@localhost/e,f?pgbouncer=a,b'
    const expected = { hostname: 'localhost', username: 'a,b', password: 'c,d', database: 'e,f' }
    expect(parseDatabase(text)).toMatchObject(expected)
  })

  test('is the folder of a socket, in place of a host', () => {
    const text = 'postgres://u@ignored.example:6000/a?host=%2Frun%2Fpg&pgbouncer=true'
    expect(parseDatabase(text)).toMatchObject({ path: '/run/pg/.s.PGSQL.6000', prepare: false })
    expect(printDatabase(parseDatabase(text))).toBe('a at /run/pg/.s.PGSQL.6000')
  })

  test.each([
    ['no URL', 'canary', 'is not a URL'],
    ['two hosts', 'postgres://canary@localhost,localhost/a', 'expected one host'],
    ['two with ports', 'postgres://canary@localhost:1,localhost:2/a', 'expected one host'],
    ['two of escapes', 'postgres://canary@localhost%2Clocalhost/a', 'expected one host'],
    ['two, and no user', 'postgresql://canary,canary', 'expected one host'],
    ['another kind', 'mysql://canary@localhost/a', 'expected postgres://'],
    ['no name of a database', 'postgres://canary@localhost', 'the name of a database'],
    ['a path for a name', 'postgres://canary@localhost/a/b', 'the name of a database'],
    ['a name that is no UTF-8', 'postgres://canary@localhost/%ff', 'escapes of UTF-8'],
    ['plain text beyond this machine', 'postgres://canary@10.0.0.1/a', 'verify-full'],
    ['plain text by name', 'postgres://canary@localhost.example/a?sslmode=disable', 'verify-full'],
    ['TLS that verifies little', 'postgres://canary@db/a?sslmode=require', 'verify-full'],
    ['TLS that may be none', 'postgres://canary@localhost/a?sslmode=prefer', 'verify-full'],
    ['options that others know', 'postgres://canary@localhost/a?canary=1', 'no other parameter'],
    [
      'a socket that is no folder',
      'postgres://canary@localhost/a?host=canary',
      'folder of a socket',
    ],
    ['a schema to be quoted', 'postgres://canary@localhost/a?schema=canary";', 'a schema of'],
    ['no schema', 'postgres://canary@localhost/a?schema=', 'a schema of'],
  ])('is refused, and not repeated: %s', (_, text, says) => {
    let fault: unknown
    try {
      parseDatabase(text)
    } catch (error) {
      fault = error
    }
    expect(fault).toBeInstanceOf(ApiError)
    expect(String(fault)).toContain(says)
    expect(JSON.stringify([String(fault), fault])).not.toContain('canary')
  })

  test('is printed without user and password', () => {
    const address = parseDatabase('postgres://canary:canary@localhost/a', 'canary')
    expect(printDatabase(address)).toBe('a at localhost:5432')
  })
})
