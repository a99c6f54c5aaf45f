/**
 * `coffer doctor`: what an operator should know before others find out.
 *
 * Looks at a data folder and at the settings as `serve` would take them, and changes nothing; a
 * running server is not disturbed, and one that starts meanwhile waits for a moment. A fault keeps
 * `serve` from starting or from writing; a warning is a choice that weakens the vault; a note is
 * what is so in every vault.
 * Source: contract sections 1 and 11, hardening finding 9.
 * @module
 */
import { existsSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Address, Config, TlsFiles } from '../config.ts'
import { keyBytes, primitives } from '../crypto/primitives.ts'
import type { Settings } from '../settings.ts'
import { freeSpaceBytesMin } from '../limits.ts'
import { freeBytesAt } from '../store/lmdb/write/write-group.ts'
import { checkFolder, type FolderOptions } from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { findKeyMakers } from './key-makers.ts'
import { findWritableByOthers } from '../serve/file-access.ts'
import { loadConfig, type ConfigOptions } from './options.ts'
import { isProcessGuarded } from '../serve/process-guard.ts'
import { sayNow, wallMs } from '../serve/system.ts'
import { readTls, troubleOf } from '../serve/tls-files.ts'

export type DoctorOptions = FolderOptions & ConfigOptions & { readonly json?: boolean }

export interface Finding {
  readonly level: 'fault' | 'warning' | 'note'
  readonly text: string
}

const fault = (text: string): Finding => ({ level: 'fault', text })
const warning = (text: string): Finding => ({ level: 'warning', text })

const othersMayRead = (path: string): boolean => (statSync(path).mode & 0o055) !== 0

function findInFolder(options: FolderOptions): Finding[] {
  const { data, masterKeyFile } = options
  try {
    checkFolder({ data, ...(masterKeyFile === undefined ? {} : { masterKeyFile }) }).fill(0)
  } catch (error) {
    if (error instanceof CommandFailure) return [fault(error.message)]
    throw error
  }
  const inFolder = join(data, 'master.key')
  // Whoever asks may be root, and whoever serves may not.
  const owner = statSync(data).uid
  const writable = findWritableByOthers(options, owner).map(fault)
  const readable = [data, inFolder, join(data, 'store', 'data.mdb')]
    .filter(path => existsSync(path) && othersMayRead(path))
    .map(path => warning(`${path} can be used by others than its owner: take that mode away`))
  const findings = [...writable, ...readable]
  if (masterKeyFile === undefined && existsSync(inFolder)) {
    findings.push(
      warning(
        'the master key lies beside the data, so a copy of the folder opens: see --master-key-file',
      ),
    )
  }
  if (freeBytesAt(data)() < freeSpaceBytesMin) {
    findings.push(fault('too little space is free: writes are refused with 507'))
  }
  return findings
}

/** What this process may not do, `serve` may not either where it is started alike. */
function findInProcess(): Finding[] {
  primitives.keep(new Uint8Array(keyBytes))
  const checks: readonly [boolean, string][] = [
    [
      !primitives.isLocked(),
      'keys cannot be locked in memory, and may be swapped: raise LimitMEMLOCK (ulimit -l)',
    ],
    [
      !isProcessGuarded(),
      'this platform does not keep other processes of the user from reading the memory of serve',
    ],
  ]
  return checks.filter(([isSo]) => isSo).map(([, text]) => warning(text))
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

const troubles: Readonly<Record<string, string>> = {
  tls_certificate_not_yet_valid: 'is not valid yet',
  tls_certificate_expired: 'has expired',
  tls_certificate_ends_soon: 'expires within 14 days',
}

/** What `serve` would refuse of the files of TLS, and what callers will. */
function findInTls(files: TlsFiles | undefined): Finding[] {
  if (files === undefined) return []
  try {
    const trouble = troubleOf(readTls(files), wallMs())
    if (trouble === undefined) return []
    return [warning(`the TLS certificate ${troubles[trouble]}: renew it, then send SIGHUP`)]
  } catch (error) {
    if (error instanceof CommandFailure) return [fault(error.message)]
    throw error
  }
}

/** What settings say that weakens the vault. */
export function findInSettings(
  settings: Settings,
  address: Address,
  { ops, tls }: Pick<Config, 'ops' | 'tls'> = {},
): Finding[] {
  const checks: readonly [boolean, string][] = [
    [
      settings.corsOrigins.includes('*'),
      'pages of any origin may call, also with private keys: see --cors-origins',
    ],
    [!settings.cardNumberGuard, 'card numbers are taken in metadata and containers, in the clear'],
    [!settings.maskGuard, 'a mask may show a whole card number'],
    [
      !settings.strictMasks,
      'who sees a token masked may change how it is masked: strict masks are off',
    ],
    [
      settings.tenantWideDeduplication,
      'whoever may create tokens is told of equal ones out of its reach, by deduplication',
    ],
    [
      !settings.sessionGrantsWithinAuthorizer,
      'a session may be granted more than its authorizer has',
    ],
    [
      settings.searchGuessesPerMinuteMax === 0 || settings.createGuessesPerMinuteMax === 0,
      'whoever does not see data may guess at it without end',
    ],
    [settings.requestsPerSecondMax === undefined, 'no credential is limited in its requests'],
    [
      'host' in address && !isLoopback(address.host) && tls === undefined,
      'keys and data cross the network in the clear: see --tls-cert, or put a proxy in front',
    ],
    [
      ops !== undefined && !isLoopback(ops.host),
      'whoever reaches --ops-host is told how much the vault does and holds, with no key',
    ],
  ]
  return checks.filter(([isSo]) => isSo).map(([, text]) => warning(text))
}

/** Who holds such a key can give itself every token: it is to be kept like the master key. */
async function findInApplications(options: FolderOptions): Promise<Finding> {
  let ids: readonly string[] | undefined
  try {
    ids = await findKeyMakers(options)
  } catch (error) {
    if (error instanceof CommandFailure) return fault(error.message)
    throw error
  }
  const text =
    ids === undefined
      ? 'while a server runs, applications that can make a key which reveals are not looked for'
      : `applications that can make a key which reveals: ${ids.join(', ')}`
  return { level: 'note', text }
}

/** @throws CommandFailure when there is a fault */
export async function doctor(options: DoctorOptions): Promise<void> {
  const { address, ops, tls, settings } = loadConfig(options)
  const findings = [
    ...findInFolder(options),
    ...findInProcess(),
    ...findInTls(tls),
    ...findInSettings(settings, address, { ...(ops && { ops }), ...(tls && { tls }) }),
  ]
  const count = (wanted: Finding['level']) =>
    findings.filter(({ level }) => level === wanted).length
  // A folder with a fault may hold nothing that can be opened.
  if (count('fault') === 0) findings.push(await findInApplications(options))
  const faults = count('fault')
  if (options.json === true) sayNow(JSON.stringify({ findings }))
  else for (const { level, text } of findings) sayNow(`${level}: ${text}`)
  if (faults > 0) throw new CommandFailure(`${faults} of ${findings.length} findings are faults`)
  if (options.json !== true) sayNow(`no faults, ${count('warning')} warnings`)
}
