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
import type { Address, TcpAddress } from '../config.ts'
import { keyBytes, primitives } from '../crypto/primitives.ts'
import type { Settings } from '../settings.ts'
import { freeSpaceBytesMin } from '../limits.ts'
import { freeBytesAt } from '../store/lmdb/write/write-group.ts'
import { checkFolder, folderOf, type FolderOptions } from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { isKeyInEnvironment, isSourceGiven } from '../serve/key-source.ts'
import { findKeyMakers } from './key-makers.ts'
import { findWritableByOthers } from '../serve/file-access.ts'
import { loadConfig, type ConfigOptions } from './options.ts'
import { isProcessGuarded } from '../serve/process-guard.ts'
import { sayNow } from '../serve/system.ts'

export type DoctorOptions = FolderOptions & ConfigOptions & { readonly json?: boolean }

export interface Finding {
  readonly level: 'fault' | 'warning' | 'note'
  readonly text: string
}

const fault = (text: string): Finding => ({ level: 'fault', text })
const warning = (text: string): Finding => ({ level: 'warning', text })

const othersMayRead = (path: string): boolean => (statSync(path).mode & 0o055) !== 0

function findInFolder(options: FolderOptions): Finding[] {
  const { data } = options
  try {
    checkFolder(folderOf(options)).fill(0)
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
  if (isKeyInEnvironment()) {
    findings.push(
      warning(
        'the master key is in the environment, which whoever starts or looks after the process ' +
          'may see: see --master-key-credential and --master-key-file',
      ),
    )
  }
  if (!isSourceGiven(options) && existsSync(inFolder)) {
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

/** What settings say that weakens the vault. */
export function findInSettings(settings: Settings, address: Address, ops?: TcpAddress): Finding[] {
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
      'host' in address && !isLoopback(address.host),
      'keys and data cross the network in the clear: put a proxy with TLS in front',
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
  const { address, ops, settings } = loadConfig(options)
  const findings = [
    ...findInFolder(options),
    ...findInProcess(),
    ...findInSettings(settings, address, ops),
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
