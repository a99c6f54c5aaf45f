/**
 * `coffer serve`: serves one data folder until SIGTERM, by this process or by several others.
 *
 * Others are workers: they share the port and the store, and this process watches over them. It
 * has the lock of the folder and hands it on to each, so that no second instance comes while one of
 * them is left; it looks at folder, store, keys and port before the first of them starts.
 * Source: docs/decisions.md, "Beyond one machine".
 * @module
 */
import type { Config, TcpAddress, TlsFiles } from '../config.ts'
import type { Log } from '../deps.ts'
import { clockStartHoldMs } from '../limits.ts'
import { makeLockWaker } from '../store/lmdb/lock-waiters.ts'
import { startBackups, type BackupSchedule } from '../serve/backups/schedule.ts'
import { openClockFile } from '../serve/clock-file.ts'
import {
  clearLeftovers,
  lockDataFolder,
  openDataFolder,
  unsealKeysOf,
  openStoreOf,
  type FolderOptions,
  type LockedFolder,
} from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { assertOwnFiles } from '../serve/file-access.ts'
import { startLogging } from '../serve/logging.ts'
import { initWhereAbsent } from './init.ts'
import { loadConfig, type ConfigOptions } from './options.ts'
import { findPort } from '../serve/listen.ts'
import { untilSignalled } from '../serve/server.ts'
import { endingSignals, outliveTerminal, serveUntilSignalled } from '../serve/vault-process.ts'
import { makeSupervisor, type Supervisor } from '../serve/supervisor.ts'
import {
  elapsedMs,
  endAfterFailure,
  logToStderrBy,
  outliveReaders,
  say,
  wallMs,
} from '../serve/system.ts'
import { logNotReloaded, readTls } from '../serve/tls-files.ts'
import { logWeaknesses } from '../serve/weaknesses.ts'
import { startWorker, type WorkerProcess } from '../serve/worker-process.ts'
import type { WorkerOrder } from '../serve/worker.ts'
import { oneAtATime } from '../waiting.ts'

export type ServeOptions = FolderOptions &
  ConfigOptions & {
    /** Makes the folder where there is none, as `coffer init` does. */
    readonly init?: boolean
    readonly keyFile?: string
  }

/** Each command takes of them what it needs; the rest is no matter to another process. */
const folderIn = ({ data, masterKeyFile }: ServeOptions): FolderOptions => ({
  data,
  ...(masterKeyFile === undefined ? {} : { masterKeyFile }),
})

/** Whoever has the lock of the folder makes its backups. */
const startBackupsOf = (
  options: ServeOptions,
  { backups }: Config,
  log: Log,
): BackupSchedule | undefined =>
  backups && startBackups(folderIn(options), backups, { wallMs, log })

async function makeFolder({ init, keyFile, data, masterKeyFile }: ServeOptions): Promise<void> {
  if (init !== true) {
    if (keyFile === undefined) return
    throw new CommandFailure('--key-file: expected with --init, which alone makes a key', 2)
  }
  await initWhereAbsent({
    data,
    ...(masterKeyFile === undefined ? {} : { masterKeyFile }),
    ...(keyFile === undefined ? {} : { keyFile }),
  })
}

/** In one piece: whoever waits for a line then has both. What is unsafe is told before it. */
const announcer =
  (options: ServeOptions, config: Config, log: Log) =>
  (address: string, opsAddress?: string): void => {
    logWeaknesses(log, options, config)
    const operations = opsAddress === undefined ? '' : `Health and metrics are on ${opsAddress}\n`
    say(`${operations}Coffer listens on ${address}`)
  }

async function serveAlone(options: ServeOptions, config: Config): Promise<void> {
  const { address, tls, ops, logs, settings } = config
  const logging = startLogging(logs)
  const { log } = logging
  const opened = await openDataFolder(options, {
    onFailure: cause => endAfterFailure(cause, log),
    onDamage: () => log('newest_rows_damaged'),
    foldRows: settings.foldRows,
  })
  const mark = openClockFile(opened.clockFile)
  const backups = startBackupsOf(options, config, log)
  await serveUntilSignalled({
    opened,
    mark,
    startHoldMs: clockStartHoldMs,
    address,
    tls,
    ops,
    settings,
    logging,
    backups,
    announce: announcer(options, config, log),
  })
  await backups?.stop()
}

/**
 * @returns the folder, locked, once all that a worker needs was found to be there; its master key
 *   is wiped, and each worker reads it for itself
 * @throws CommandFailure
 */
export async function lockAndCheck(options: FolderOptions): Promise<LockedFolder> {
  const folder = lockDataFolder(options)
  clearLeftovers(folder)
  const store = await openStoreOf(folder, { onFailure: () => {} })
  await unsealKeysOf(store, folder)
  await store.close()
  return folder
}

/** Where it cannot be read, each worker finds that out for itself. */
function readMark(clockFile: string): { readonly mark?: string } {
  try {
    return { mark: openClockFile(clockFile).read() }
  } catch {
    return {}
  }
}

/** @returns what starts a worker: one of the first ones, or later one in its place */
function makeStarter({ lockFile, clock }: LockedFolder, order: WorkerOrder) {
  const first = { ...order, ...readMark(clock) }
  const begun = new Set<number>()
  return (index: number): WorkerProcess => {
    const isFirst = !begun.has(index)
    begun.add(index)
    return startWorker(index, isFirst ? first : order, lockFile)
  }
}

/** Files that are not what they must be are told of once, and no worker looks at them. */
function reloaderOf(tls: TlsFiles | undefined, supervisor: Supervisor, log: Log): () => void {
  if (tls === undefined) return () => {}
  return oneAtATime(async () => {
    try {
      readTls(tls)
    } catch (error) {
      return logNotReloaded(error, log)
    }
    await supervisor.reload()
  })
}

async function serveTogether(
  options: ServeOptions,
  config: Config,
  asked: TcpAddress,
): Promise<void> {
  const { workers, tls, logs, settings } = config
  const log = logToStderrBy(logs)
  if (process.platform !== 'linux') {
    throw new CommandFailure('--workers or COFFER_WORKERS: expected 1 on this platform', 2)
  }
  const folder = folderIn(options)
  const locked = await lockAndCheck(folder)
  if (tls !== undefined) readTls(tls)
  const address = await findPort(asked)
  const order = { parent: process.pid, folder, address, tls, settings, logs, workers }
  const stopped = untilSignalled(endingSignals)
  const backups = startBackupsOf(options, config, log)
  const supervisor = makeSupervisor(workers, {
    start: makeStarter(locked, order),
    wakeOthers: makeLockWaker(locked.store),
    elapsedMs,
    log,
  })
  outliveTerminal(reloaderOf(tls, supervisor, log))
  const scheme = tls === undefined ? 'http' : 'https'
  try {
    const announce = announcer(options, config, log)
    const ready = supervisor.isReady.then(() =>
      announce(`${scheme}://${address.host}:${address.port}`),
    )
    await Promise.race([ready, supervisor.failed, stopped])
    await Promise.race([supervisor.failed, stopped])
  } finally {
    await supervisor.stop()
    await backups?.stop()
  }
}

export async function serve(options: ServeOptions): Promise<void> {
  const config = loadConfig(options)
  const { address, workers } = config
  await makeFolder(options)
  outliveReaders()
  assertOwnFiles(options)
  if (workers === 1 || 'socket' in address) await serveAlone(options, config)
  else await serveTogether(options, config, address)
}
