/**
 * `coffer doctor`: problems that an operator should know before others find them.
 *
 * It checks a data folder and the settings as `serve` would take them, tries what `serve` needs,
 * and leaves nothing changed; a running server is not disturbed, and one that starts at that time
 * waits for a moment. A fault keeps `serve` from starting or writing, or loses acknowledged data; a
 * warning is a choice that weakens the vault; a note holds for every vault. Source: contract
 * sections 1 and 11, hardening finding 9.
 * @module
 */
import type { Command } from 'commander'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config, TlsFiles } from '../../settings/config.ts'
import { keyBytes, primitives } from '../../crypto/primitives.ts'
import { freeSpaceBytesMin, rsaBitsMin } from '../../limits/operation-limits.ts'
import { freeBytesAt } from '../../store/lmdb/write/disk-reserve.ts'
import { openPlace } from '../../server/backup/backup-place.ts'
import { readWitness } from '../../server/witness/ask-witnesses.ts'
import { openCheckpointPlace } from '../../server/backup/checkpoint-copies.ts'
import { findCopies } from '../../server/folder/copies.ts'
import {
  checkFolder,
  folderOf,
  masterKeyFileOf,
  type FolderOptions,
} from '../../server/folder/data-folder.ts'
import { assertSameDatabase } from '../../server/folder/folder-database.ts'
import { assertErasureLog } from '../../server/folder/erasure-log.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { isDataFolder } from '../../server/folder/folder-stamp.ts'
import { isKeyInEnvironment } from '../../server/keys/key-source.ts'
import { findWritableByOthers, type ServedFiles } from '../../server/folder/file-access.ts'
import { loadConfig, takesServing, type ConfigOptions } from '../setting-options.ts'
import { beforeOf } from '../../server/keys/next-master-key.ts'
import { isProcessGuarded } from '../../server/process/process-guard.ts'
import { sayJson, sayNow, wallMs } from '../../server/process/system.ts'
import { readTls, troublesOf } from '../../server/listen/tls-files.ts'
import { weaknessesOf, weaknessesOfKey, type Weakness } from '../../server/process/weaknesses.ts'
import { advicesOf } from '../copy-advice.ts'
import { findInClock } from './clock-findings.ts'
import { findInDatabase } from './database-findings.ts'
import { fault, note, warning, type DoctorFinding } from './finding.ts'
import { findInLog } from './log-room.ts'
import { findInRows } from './row-findings.ts'
import { tryServing } from './trials.ts'

type DoctorOptions = FolderOptions & ConfigOptions & { readonly json?: boolean }

const warn = ({ about, text }: Weakness): DoctorFinding => warning(about, text)

const othersMayRead = (path: string): boolean => (statSync(path).mode & 0o055) !== 0

/** Finds the previous key that a `keys rekey` left beside the new one. */
function findKeyBefore(options: FolderOptions): DoctorFinding[] {
  const file = masterKeyFileOf(options)
  if (file === undefined || !existsSync(beforeOf(realpathSync(file)))) return []
  const text =
    `${beforeOf(realpathSync(file))} is a master key of before, which opens older backups: ` +
    'keep it with them, and not here'
  return [warning('master key', text)]
}

function findInFolder(options: ServedFiles): DoctorFinding[] {
  const { data } = options
  try {
    checkFolder(folderOf(options)).fill(0)
  } catch (error) {
    if (error instanceof CommandFailure) return [fault('data folder', error.message)]
    throw error
  }
  const inFolder = join(data, 'master.key')
  // This user may be root although the server does not run as root.
  const owner = statSync(data).uid
  const writable = findWritableByOthers(options, owner).map(text => fault('owner and mode', text))
  const readable = [data, inFolder, join(data, 'store', 'data.mdb')]
    .filter(path => existsSync(path) && othersMayRead(path))
    .map(path =>
      warning(
        'owner and mode',
        `${path} can be used by others than its owner: take that mode away`,
      ),
    )
  const findings = [...writable, ...readable, ...weaknessesOfKey(options).map(warn)]
  if (isKeyInEnvironment()) {
    findings.push(
      warning(
        'master key',
        'the master key is in the environment, which those who start or look after the process ' +
          'may see: see --master-key-credential and --master-key-file',
      ),
    )
  }
  findings.push(...findKeyBefore(options))
  findings.push(...advicesOf(findCopies(data)).map(text => warning('copies', text)))
  if (freeBytesAt(data)() < freeSpaceBytesMin) {
    const floor = `${freeSpaceBytesMin / 1024 ** 2} MiB are free on the disk of ${data}`
    findings.push(fault('disk', `less than ${floor}, so writes are refused with 507: free some`))
  }
  return findings
}

/** If `serve` is started in the same way, it lacks the same rights as this process. */
function findInProcess(): DoctorFinding[] {
  primitives.keep(new Uint8Array(keyBytes))
  const checks: readonly [string, boolean, string][] = [
    [
      'memory',
      !primitives.isLocked(),
      'keys cannot be locked in memory, and may be swapped: raise LimitMEMLOCK (ulimit -l)',
    ],
    [
      'process',
      !isProcessGuarded(),
      'this platform does not keep other processes of the user from reading the memory of serve',
    ],
  ]
  return checks.filter(([, isSo]) => isSo).map(([about, , text]) => warning(about, text))
}

const troubles: Readonly<Record<string, string>> = {
  tls_certificate_not_yet_valid: 'is not valid yet: renew it',
  tls_certificate_expired: 'has expired: renew it',
  tls_certificate_ends_soon: 'expires within 14 days: renew it',
  tls_key_weak: `has a key of RSA below ${rsaBitsMin} bits, which callers may refuse: make another`,
}

/** Faults of the TLS files for which `serve`, or callers, would refuse them. */
function findInTls(files: TlsFiles | undefined): DoctorFinding[] {
  if (files === undefined) return []
  try {
    return troublesOf(readTls(files), wallMs()).map(trouble =>
      warning('--tls-cert', `the TLS certificate ${troubles[trouble]}, then send SIGHUP`),
    )
  } catch (error) {
    if (error instanceof CommandFailure) return [fault('--tls-cert', error.message)]
    throw error
  }
}

/** A flag that `serve` would refuse. */
function refusedOf(flag: string, check: () => void): DoctorFinding[] {
  try {
    check()
    return []
  } catch (error) {
    if (error instanceof CommandFailure) return [fault(flag, error.message)]
    throw error
  }
}

/** Places beside the vault that `serve` would write to. */
const findInPlaces = (
  { erasureLog, backups, checkpointsTo, settings }: Config,
  data: string,
): DoctorFinding[] => [
  ...(erasureLog === undefined
    ? []
    : refusedOf('--erasure-log', () => assertErasureLog(erasureLog, data))),
  ...(backups === undefined
    ? []
    : refusedOf('--backup-to', () => openPlace(backups.to, data).assertThere())),
  ...(checkpointsTo === undefined
    ? []
    : refusedOf('--audit-checkpoints-to', () => openCheckpointPlace(checkpointsTo, wallMs))),
  ...refusedOf('--audit-witnesses', () => settings.auditWitnesses.map(readWitness)),
]

/** True if a vault is in a database and has no folder on this machine yet, which `serve` makes. */
const isToCome = ({ data, store }: DoctorOptions): boolean =>
  store !== undefined && !isDataFolder(data)

/** True if any setting says where to listen. */
const saysWhere = ({ configFile, host, port, socket, opsPort }: DoctorOptions): boolean =>
  [configFile, host, port, socket, opsPort].some(text => text !== undefined)

const noFolder = note('data folder', 'there is none yet: serve makes it, for the vault of --store')

/** @throws CommandFailure if there is a fault */
async function doctor(options: DoctorOptions): Promise<void> {
  const config = loadConfig(options)
  const { address, tls, settings } = config
  if (!isToCome(options)) assertSameDatabase(options.data, options)
  const findings = [
    ...(isToCome(options) ? [noFolder] : findInFolder(options)),
    ...(await findInDatabase(options)),
    ...findInProcess(),
    ...findInTls(tls),
    ...findInPlaces(config, options.data),
    ...weaknessesOf(settings, address, config).map(warn),
  ]
  const count = (wanted: DoctorFinding['level']) =>
    findings.filter(({ level }) => level === wanted).length
  // A folder with a fault may hold nothing that can be opened.
  if (count('fault') === 0 && !isToCome(options)) {
    const isClockTold = findings.some(({ about }) => about === 'clock')
    if (!isClockTold) findings.push(...(await findInClock(options)))
    findings.push(...(await findInLog(options, settings)))
    findings.push(...(await tryServing(options, config, saysWhere(options))))
    if (count('fault') === 0) findings.push(...(await findInRows(options)))
  }
  const faults = count('fault')
  if (options.json === true) sayJson({ findings })
  else for (const { level, about, text } of findings) sayNow(`${level}: ${about}: ${text}`)
  if (faults > 0) throw new CommandFailure(`${faults} of ${findings.length} findings are faults`)
  if (options.json !== true) sayNow(`no faults, ${count('warning')} warnings`)
}

export function addDoctor(program: Command): void {
  takesServing(program.command('doctor'))
    .description('look for faults and weak choices in a data folder and its settings')
    .option('--json', 'print one line of JSON')
    .action((options: DoctorOptions) => doctor(options))
}
