/**
 * The address of a database, from its URL: `postgres://user@host:5432/name?sslmode=verify-full`.
 *
 * Sealed bytes and digests travel over this connection, and an attacker on it could replay older
 * ones; so beyond this machine it uses TLS with a verified certificate, or is refused.
 * @module
 */
import { isLoopback } from '../../lib/ip.ts'
import { invalid } from '../../lib/errors.ts'
import { readRegular } from '../../lib/files.ts'
import { tlsFileBytesMax } from '../../limits/operation-limits.ts'

export interface DatabaseAddress {
  readonly hostname: string
  readonly port: number
  /** Path of a Unix socket, replacing host and port. */
  readonly path?: string
  readonly database: string
  readonly username: string
  readonly password?: string
  /** CA of the server's certificate; absent if the connection stays on this machine. */
  readonly tls?: { readonly ca?: string }
  /** True if a connection may keep prepared statements: not behind a transaction pooler. */
  readonly prepare: boolean
  /** The schema of all tables. */
  readonly schema: string
}

const schemaPattern = /^[a-z][a-z0-9_]{0,47}$/
const known = ['sslmode', 'sslrootcert', 'host', 'schema', 'pgbouncer']
const portDefault = 5_432

const refuse = (expected: string): never => {
  throw invalid('store', expected)
}

/** Several hosts: nothing tells which is the primary. A comma in the password does not count. */
const severalHosts = /^[^/?#]*\/\/(?:[^/?#]*@)?[^/?#@]*(?:,|%2c)[^/?#@]*(?:[/?#]|$)/i

function parse(text: string): URL {
  if (severalHosts.test(text)) {
    refuse('expected one host: give a name, or a proxy, that follows the primary')
  }
  const url = URL.canParse(text) ? new URL(text) : refuse('is not a URL')
  const isKnown = ['postgres:', 'postgresql:'].includes(url.protocol)
  return isKnown ? url : refuse('expected postgres://user@host/name')
}

/** Strips the brackets of an IPv6 host. */
const plainHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return refuse('expected escapes of UTF-8 in the URL')
  }
}

function readAuthority(path: string): string {
  const bytes = readRegular(path, tlsFileBytesMax)
  const expected = `expected in sslrootcert a file of at most ${tlsFileBytesMax} bytes`
  return bytes?.toString('utf8') ?? refuse(expected)
}

function tlsOf({ hostname, searchParams }: URL): DatabaseAddress['tls'] {
  const mode = searchParams.get('sslmode')
  if (mode === 'verify-full') {
    const file = searchParams.get('sslrootcert')
    return file === null ? {} : { ca: readAuthority(file) }
  }
  if (mode !== null && mode !== 'disable') refuse('expected sslmode=verify-full')
  if (!isLoopback(plainHost(hostname))) refuse('expected sslmode=verify-full beyond this machine')
  return undefined
}

/**
 * @param password used if the URL has none
 * @throws ApiError `invalid_request` that repeats nothing of it
 */
export function parseDatabase(text: string, password?: string): DatabaseAddress {
  const url = parse(text)
  const { searchParams } = url
  if ([...searchParams.keys()].some(name => !known.includes(name))) {
    refuse(`expected no other parameter than ${known.join(', ')}`)
  }
  const schema = searchParams.get('schema') ?? 'coffer'
  if (!schemaPattern.test(schema)) refuse('expected a schema of small letters, digits and _')
  const database = decoded(url.pathname.slice(1))
  if (database === '' || database.includes('/')) refuse('expected the name of a database')
  const folder = searchParams.get('host')
  const port = Number(url.port || portDefault)
  const isSocket = folder?.startsWith('/') === true
  if (folder !== null && !isSocket) refuse('expected in host the folder of a socket')
  const tls = isSocket ? undefined : tlsOf(url)
  const secret = password ?? decoded(url.password)
  return {
    hostname: plainHost(url.hostname),
    port,
    ...(isSocket ? { path: `${folder}/.s.PGSQL.${port}` } : {}),
    database,
    username: decoded(url.username) || 'coffer',
    ...(secret === '' ? {} : { password: secret }),
    ...(tls === undefined ? {} : { tls }),
    prepare: searchParams.get('pgbouncer') !== 'true',
    schema,
  }
}

/** Prints the address for a person, without secrets. */
export const printDatabase = ({ path, hostname, port, database }: DatabaseAddress): string =>
  `${database} at ${path ?? `${hostname}:${port}`}`
