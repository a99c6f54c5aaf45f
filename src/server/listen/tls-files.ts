/**
 * The files for HTTPS, read and checked before the server uses them.
 *
 * All are in PEM form (RFC 7468): certificates of the server, its own first, then its issuers; its
 * key, unencrypted; certificates of the authorities that sign callers' certificates.
 * @module
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Stats } from 'node:fs'
import type { TlsFiles } from '../../settings/config.ts'
import type { Log } from '../../deps.ts'
import { readRegular } from '../../lib/files.ts'
import {
  certificateEndsSoonMs,
  tlsFileBytesMax,
  rsaBitsMin,
} from '../../limits/operation-limits.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { findForeignFile } from '../folder/file-access.ts'
import { isSecretOpen } from '../keys/secret-access.ts'

export interface Tls {
  readonly cert: Buffer
  readonly key: Buffer
  /** Authorities for callers' certificates; if absent, callers need none. */
  readonly ca?: Buffer
  /** Unix milliseconds between which the server's own certificate is valid. */
  readonly fromMs: number
  readonly untilMs: number
  /** Size of its key in bits, if it is an RSA key. */
  readonly rsaBits: number | undefined
}

function readWhole(path: string, flag: string, check?: (stats: Stats) => void): Buffer {
  try {
    const bytes = readRegular(path, tlsFileBytesMax, check)
    if (bytes !== undefined) return withoutMarks(bytes)
    throw new CommandFailure(
      `${flag}: ${path} is no file of at most ${tlsFileBytesMax} bytes: name one`,
    )
  } catch (error) {
    const code = systemCodeOf(error)
    if (code === undefined) throw error
    const fault =
      code === 'ENOENT'
        ? `there is no file at ${path}: check its name`
        : `this process cannot read ${path}: check its owner and mode`
    throw new CommandFailure(`${flag}: ${fault}`)
  }
}

const certificateBegin = '-----BEGIN CERTIFICATE-----'
const certificatePattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Windows editors put one before a text, which may since have been joined with others: the TLS
 * library skips the certificate behind one.
 */
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

function withoutMarks(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(byteOrderMark); at >= 0; at = bytes.indexOf(byteOrderMark, from)) {
    parts.push(bytes.subarray(from, at))
    from = at + byteOrderMark.length
  }
  return from === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)])
}

/** @throws CommandFailure if there is none, or one that cannot be read */
function certificatesIn(bytes: Buffer, path: string, flag: string): X509Certificate {
  try {
    const text = bytes.toString('latin1')
    const [own, ...above] = text.match(certificatePattern) ?? []
    // A truncated certificate does not match.
    const isWhole = text.split(certificateBegin).length === above.length + 2
    for (const each of above) void new X509Certificate(each)
    if (own !== undefined && isWhole) return new X509Certificate(own)
  } catch {
    // Reported below.
  }
  const fault = `${path} holds no certificate in PEM form, or a damaged one`
  throw new CommandFailure(`${flag}: ${fault}: get it anew from its issuer`)
}

function readKey(path: string, own: X509Certificate): Buffer {
  const key = readWhole(path, '--tls-key', stats => {
    if (!isSecretOpen(stats, path)) return
    throw new CommandFailure(
      `--tls-key: ${path} is of others or open to them: chown it, and chmod 600 it`,
    )
  })
  let isOwn: boolean
  try {
    isOwn = own.checkPrivateKey(createPrivateKey(key))
  } catch {
    const expected = 'expected one in PEM form without a passphrase'
    throw new CommandFailure(`--tls-key: ${path} holds no private key: ${expected}`)
  }
  if (isOwn) return key
  const way = "name the key of the first certificate in that file, which is the server's own"
  throw new CommandFailure(`--tls-key: the key does not belong to the certificate: ${way}`)
}

/** A user who can write this file can admit anybody. */
function readClientCa(path: string): Buffer {
  const ca = readWhole(path, '--tls-client-ca', () => {
    const uid = process.geteuid?.()
    const foreign = uid === undefined ? undefined : findForeignFile(path, uid)
    if (foreign !== undefined) throw new CommandFailure(`--tls-client-ca: ${foreign}`)
  })
  certificatesIn(ca, path, '--tls-client-ca')
  return ca
}

/** @throws CommandFailure with one line that names the file and the fault */
export function readTls(files: TlsFiles): Tls {
  const cert = readWhole(files.cert, '--tls-cert')
  const own = certificatesIn(cert, files.cert, '--tls-cert')
  const key = readKey(files.key, own)
  const tls = {
    cert,
    key,
    fromMs: Date.parse(own.validFrom),
    untilMs: Date.parse(own.validTo),
    rsaBits: own.publicKey.asymmetricKeyDetails?.modulusLength,
  }
  if (files.clientCa === undefined) return tls
  const ca = readClientCa(files.clientCa)
  return { ...tls, ca }
}

/** Lists faults for which callers will, soon will, or should refuse it: it is served anyway. */
export function troublesOf({ fromMs, untilMs, rsaBits }: Tls, nowMs: number): readonly string[] {
  const isWeak = rsaBits !== undefined && rsaBits < rsaBitsMin
  const weak = isWeak ? ['tls_key_weak'] : []
  if (nowMs < fromMs) return ['tls_certificate_not_yet_valid', ...weak]
  if (nowMs > untilMs) return ['tls_certificate_expired', ...weak]
  return nowMs > untilMs - certificateEndsSoonMs ? ['tls_certificate_ends_soon', ...weak] : weak
}

const textOf = (ms: number): string => new Date(ms).toISOString()

export function logTrouble(tls: Tls, nowMs: number, log: Log): void {
  for (const trouble of troublesOf(tls, nowMs)) {
    log(trouble, { from: textOf(tls.fromMs), until: textOf(tls.untilMs) })
  }
}

/** Logs that the previous certificates stay in use. */
export function logNotReloaded(error: unknown, log: Log): void {
  log('tls_not_reloaded', { cause: error instanceof CommandFailure ? error.message : 'unknown' })
}
