/**
 * `coffer serve`: serves one data folder until SIGTERM, by this process or by several others.
 *
 * Others are workers: they share the port and the store, and this process watches over them. It
 * has the lock of the folder and hands it on to each, so that no second instance comes while one of
 * them is left; it looks at folder, store, keys and port before the first of them starts.
 * Source: docs/decisions.md, "Beyond one machine".
 * @module
 */
import type { Config, TcpAddress, TlsFiles } from '../settings/config.ts'
import type { Log } from '../deps.ts'
import { clockStartHoldMs } from '../limits/operation-limits.ts'
import { makeLockWaker } from '../store/lmdb/lock-waiters.ts'
import type { Facts } from '../vault/operator/operator-operation.ts'
import { factsOfBackups } from '../server/backup/backup-facts.ts'
import { startBackups, type BackupSchedule } from '../server/backup/schedule.ts'
import { markOf, openClockFile } from '../server/process/clock-file.ts'
import {
  clearLeftovers,
  controlOf,
  folderOf,
  lockDataFolder,
  openDataFolder,
  unsealKeysOf,
  openStoreOf,
  type FolderOptions,
  type LockedFolder,
  type OpenedFolder,
} from '../server/folder/data-folder.ts'
import { assertOwnStore, databaseOf, databaseUse } from '../server/folder/folder-database.ts'
import { joinFolder } from '../server/folder/make-folder.ts'
import { makeErasureLog, prepareErasureLog } from '../server/folder/erasure-log.ts'
import { CommandFailure, usageExitCode } from '../server/process/failure.ts'
import { tellFailuresBy } from '../server/process/failure-line.ts'
import { watchFolder } from '../server/folder/folder-lock.ts'
import { assertOwnFiles } from '../server/folder/file-access.ts'
import { startLogging } from '../server/watch/logging.ts'
import { initWhereAbsent } from './init.ts'
import {
  isReadAgain,
  isSourceGiven,
  releaseKeys,
  sourceNameOf,
  type KeyOptions,
} from '../server/keys/key-source.ts'
import { loadConfig, loadSettings, type ConfigOptions } from './setting-options.ts'
import { takeHandedSocket, type HandedSocket } from '../server/listen/handed-socket.ts'
import { addressText, findPort } from '../server/listen/listen.ts'
import { listenOps, type OpsServer } from '../server/watch/ops.ts'
import { lockSealed, openLocked } from '../server/folder/sealed-folder.ts'
import { findServiceManager, type ServiceManager } from '../server/process/service-manager.ts'
import { untilSignalled } from '../server/process/server.ts'
import { outliveTerminal, reloadOnHangUp } from '../server/process/hang-up.ts'
import { endingSignals, serveUntilSignalled } from '../server/process/vault-process.ts'
import { logStart, sayListening, type Start } from '../server/process/start-line.ts'
import { makeSupervisor, type Supervisor } from '../server/process/supervisor.ts'
import {
  elapsedMs,
  endAfterFailure,
  logToStderrBy,
  outliveReaders,
  say,
  wallMs,
} from '../server/process/system.ts'
import { logNotReloaded, readTls } from '../server/listen/tls-files.ts'
import { logWeaknesses } from '../server/process/weaknesses.ts'
import { startWorker, type WorkerProcess } from '../server/process/worker-process.ts'
import type { WorkerOrder } from '../server/process/worker.ts'
import type { OperatedStore } from '../store/operated.ts'
import { oneAtATime } from '../lib/waiting.ts'

export type ServeOptions = FolderOptions &
  ConfigOptions & {
    /** Makes the folder where there is none, as `coffer init` does. */
    readonly init?: boolean
    /** The same where nothing says whether a vault was there before. */
    readonly initNew?: boolean
    readonly keyFile?: string
    /** Without the master key, which others bring. */
    readonly sealed?: boolean
  }

function assertSealable(options: ServeOptions, workers: number): void {
  if (options.sealed !== true) return
  if (workers > 1) throw new CommandFailure('--workers: expected 1 with --sealed', usageExitCode)
  if (isSourceGiven(options)) {
    const message = '--sealed: the master key is brought later, so none is to be named'
    throw new CommandFailure(message, usageExitCode)
  }
}

/** Other processes read the key for themselves: none is handed over. @throws CommandFailure */
export function assertReadAgain(
  options: Pick<ServeOptions, 'sealed'> & KeyOptions,
  { workers, backups }: Config,
): void {
  if (options.sealed !== true && isReadAgain(options)) return
  const [flag, who] =
    workers > 1 ? ['--workers', 'each worker'] : ['--backup-to', 'what makes them']
  if (workers === 1 && backups === undefined) return
  const message = `${flag}: ${who} reads the master key for itself, from a file or a credential`
  throw new CommandFailure(message, usageExitCode)
}

/** The holder of the folder's lock makes its backups. */
const startBackupsOf = (
  options: ServeOptions,
  { backups }: Config,
  log: Log,
): BackupSchedule | undefined =>
  backups && startBackups(folderOf(options), backups, { wallMs, log })

const ownBackups = 'use the backups of that, see docs/many-machines.md'

async function makeFolder(options: ServeOptions, { logs }: Config): Promise<void> {
  const { init, initNew, keyFile } = options
  if (init !== true && initNew !== true) {
    await joinFolder(options)
    if (keyFile === undefined) return
    throw new CommandFailure(
      '--key-file: expected with --init or --init-new, which alone make a key',
      2,
    )
  }
  const made = {
    ...folderOf(options),
    ...databaseOf(options),
    ...(keyFile === undefined ? {} : { keyFile }),
    json: logs.logFormat === 'json',
  }
  await initWhereAbsent(made, initNew === true)
}

/**
 * In one piece: a reader that waits for a line then has both, as JSON where that is asked for. What
 * is unsafe is told before it.
 */
const announcer =
  (options: ServeOptions, config: Config, log: Log, start: Start) =>
  (address: string, opsAddress?: string): void => {
    logWeaknesses(log, options, config)
    logStart(log, { address, opsAddress }, start)
    if (config.logs.logFormat === 'json') return sayListening({ address, opsAddress })
    const operations = opsAddress === undefined ? [] : [`Health and metrics are on ${opsAddress}`]
    say(...operations, `Coffer listens on ${address}`)
  }

/** What a service manager has handed to this process, and what it says of its start. */
interface Given {
  readonly manager: ServiceManager
  readonly handed: HandedSocket | undefined
  readonly start: Start
}

/** A database may have gone since it was opened, which ends no start. */
async function rowsIn(store: OperatedStore): Promise<{ readonly rows?: number }> {
  try {
    return { rows: (await store.figures()).nextOrdinal - 1 }
  } catch {
    return {}
  }
}

async function serveAlone(
  options: ServeOptions,
  config: Config,
  { start: asked, ...given }: Given,
): Promise<void> {
  const { address, tls, ops, checkPath, logs, settings, erasureLog, drainSeconds } = config
  const { data } = options
  const logging = startLogging(logs)
  const { log } = logging
  const use = {
    onFailure: (cause: unknown) => endAfterFailure(cause, log),
    onDamage: () => log('newest_rows_damaged'),
    ...databaseUse(log),
    foldRows: settings.foldRows,
  }
  const withMark = (opened: OpenedFolder) => ({ opened, mark: markOf(opened) })
  if (options.sealed === true) lockSealed(data)
  const first =
    options.sealed === true ? {} : { first: withMark(await openDataFolder(options, use)) }
  const stopWatching = watchFolder(data, use.onFailure)
  releaseKeys()
  const backups = startBackupsOf(options, config, log)
  const start = 'first' in first ? { ...asked, ...(await rowsIn(first.first.opened.store)) } : asked
  await serveUntilSignalled({
    ...first,
    reopen: async masterKey => withMark(await openLocked(data, masterKey, use)),
    control: controlOf(data),
    processId: process.pid,
    startHoldMs: clockStartHoldMs,
    address,
    tls,
    ops,
    checkPath,
    settings,
    drainSeconds,
    ...given,
    logging,
    backups,
    erasures: erasureLog === undefined ? undefined : makeErasureLog(erasureLog, log),
    announce: announcer(options, config, log, start),
  })
  stopWatching()
}

/**
 * @returns the folder, locked, once all that a worker needs was found to be there; its master key
 *   is wiped, and each worker reads it for itself
 * @throws CommandFailure
 */
export async function lockAndCheck(
  options: FolderOptions,
): Promise<LockedFolder & { readonly rows?: number }> {
  const folder = lockDataFolder(options)
  clearLeftovers(folder)
  const store = await openStoreOf(folder, { onFailure: () => {} })
  await unsealKeysOf(store, folder)
  const rows = await rowsIn(store)
  await store.close()
  return { ...folder, ...rows }
}

/** Where it cannot be read, each worker finds that out for itself. */
function readMark(clockFile: string): { readonly mark?: string } {
  try {
    return { mark: openClockFile(clockFile).read() }
  } catch {
    return {}
  }
}

interface Starting {
  readonly order: WorkerOrder
  readonly handed: HandedSocket | undefined
  /** What is so of all workers, for `coffer status`. */
  readonly all: () => Facts
}

/** @returns what starts a worker: one of the first ones, or later one in its place */
function makeStarter({ lockFile, clock }: LockedFolder, { order, handed, all }: Starting) {
  const files = handed === undefined ? [lockFile] : [lockFile, handed.file]
  const first = { ...order, ...readMark(clock) }
  const begun = new Set<number>()
  return (index: number): WorkerProcess => {
    const isFirst = !begun.has(index)
    begun.add(index)
    return startWorker(index, isFirst ? first : order, files, all)
  }
}

/** Files that are not what they must be are told of once, and no worker looks at them. */
function reloaderOf(
  tls: TlsFiles | undefined,
  supervisor: Supervisor,
  log: Log,
): () => Promise<void> {
  if (tls === undefined) return async () => {}
  return oneAtATime(async () => {
    try {
      readTls(tls)
    } catch (error) {
      return logNotReloaded(error, log)
    }
    await supervisor.reload()
  })
}

/** What counts is loaded only where somebody asks for it. */
async function watchTogether(
  ops: TcpAddress,
  supervisor: Supervisor,
  backups: BackupSchedule | undefined,
): Promise<OpsServer> {
  const { watchWorkers } = await import('../server/watch/workers-watch.ts')
  return listenOps(ops, watchWorkers(supervisor, backups))
}

async function serveTogether(
  options: ServeOptions,
  config: Config,
  asked: TcpAddress,
  { manager, handed, start }: Given,
): Promise<void> {
  const { workers, tls, ops, checkPath, logs, settings, erasureLog, drainSeconds } = config
  const log = logToStderrBy(logs)
  if (process.platform !== 'linux') {
    throw new CommandFailure('--workers or COFFER_WORKERS: expected 1 on this platform', 2)
  }
  const folder = folderOf(options)
  const locked = await lockAndCheck(folder)
  watchFolder(locked.data, cause => endAfterFailure(cause, log))
  if (tls !== undefined) readTls(tls)
  const address = handed?.address ?? (await findPort(asked))
  const parent = process.pid
  const isWatched = ops !== undefined
  const isHanded = handed !== undefined
  const listening = { address, isHanded, tls, checkPath, drainSeconds, isWatched }
  const { watchMs: beatMs } = manager
  const order = { parent, folder, ...listening, settings, logs, workers, erasureLog, beatMs }
  const stopped = untilSignalled(endingSignals)
  const backups = startBackupsOf(options, config, log)
  let opsServer: OpsServer | undefined
  const all = () => ({ ops_address: opsServer?.address ?? null, ...factsOfBackups(backups) })
  const supervisor = makeSupervisor(workers, {
    start: makeStarter(locked, { order, handed, all }),
    drainMs: drainSeconds * 1_000,
    wakeOthers: makeLockWaker(locked.store),
    elapsedMs,
    log,
  })
  const url = addressText(address, tls !== undefined)
  const status = `Listens on ${url}, ${workers} workers`
  const reload = reloaderOf(tls, supervisor, log)
  reloadOnHangUp(async () => {
    manager.reloading()
    await reload()
    manager.ready(status)
  })
  let stopWatching = () => {}
  try {
    // At once, so that a caller who waits for the workers is told of them.
    opsServer = ops && (await watchTogether(ops, supervisor, backups))
    const announce = announcer(options, config, log, { ...start, rows: locked.rows })
    const ready = supervisor.isReady.then(() => {
      announce(url, opsServer?.address)
      manager.ready(status)
      stopWatching = manager.watch(() => supervisor.isWell(2 * (beatMs ?? 0)))
    })
    await Promise.race([ready, supervisor.failed, stopped])
    log('stopping', { signal: await Promise.race([supervisor.failed, stopped]) })
  } finally {
    manager.stopping()
    await supervisor.stop()
    await opsServer?.stop()
    await backups?.stop()
    stopWatching()
  }
  log('stopped')
}

export async function serve(options: ServeOptions): Promise<void> {
  outliveTerminal()
  const given = {
    manager: findServiceManager(process.env, process.pid),
    handed: takeHandedSocket(process.env, process.pid),
  }
  const config = loadConfig(options)
  tellFailuresBy(config.logs)
  const { address, workers } = config
  assertSealable(options, workers)
  assertReadAgain(options, config)
  await makeFolder(options, config)
  if (config.backups !== undefined) assertOwnStore(options.data, ownBackups)
  outliveReaders()
  assertOwnFiles(options)
  if (config.erasureLog !== undefined) prepareErasureLog(config.erasureLog, options.data)
  // A key that is had once only is soon had no more.
  const keySource = options.sealed === true ? 'shares' : sourceNameOf(options)
  const start = { workers, keySource, settings: loadSettings(options) }
  if (workers === 1 || 'socket' in address) await serveAlone(options, config, { ...given, start })
  else await serveTogether(options, config, address, { ...given, start })
}
