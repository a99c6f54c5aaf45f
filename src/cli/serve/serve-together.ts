/**
 * `coffer serve --workers`: several processes serve one data folder, and this one leads them.
 *
 * They share the listening socket and the store. This process opens the socket and the lock of the
 * folder, and hands both on to each, so that nobody listens beside them and no second instance
 * starts while one of them is left. It checks folder, store and keys before the first worker
 * starts, replaces each worker that ends, and answers for all of them at the control socket and at
 * the listener for health and metrics. Source: docs/decisions.md, "Beyond one machine".
 * @module
 */
import { closeSync } from 'node:fs'
import type { Config, TcpAddress, TlsFiles } from '../../settings/config.ts'
import type { Facts } from '../../vault/operator/operator-operation.ts'
import type { Log } from '../../deps.ts'
import { factsOfBackups, sealedWith } from '../../server/backup/schedule.ts'
import { openClockFile } from '../../server/process/clock-file.ts'
import type { ControlOperation } from '../../server/listen/control.ts'
import { startVaultControl } from '../../server/listen/control-operations.ts'
import {
  clearLeftovers,
  folderOf,
  lockDataFolder,
  openStoreOf,
  unsealKeysOf,
  type FolderOptions,
  type LockedFolder,
} from '../../server/folder/data-folder.ts'
import { usage } from '../../server/process/failure.ts'
import { watchFolder } from '../../server/folder/folder-lock.ts'
import type { ListeningSocket } from '../../server/listen/listening-sockets.ts'
import { reloadOnHangUp } from '../../server/process/hang-up.ts'
import { addressText, openForWorkers } from '../../server/listen/listen.ts'
import { listenOps } from '../../server/watch/ops.ts'
import { lockSealed, tryLocked, type SealedFolder } from '../../server/folder/sealed-folder.ts'
import { untilSignalled } from '../../server/process/server.ts'
import { makeSupervisor, type Supervisor } from '../../server/process/supervisor.ts'
import { elapsedMs, endAfterFailure, logToStderrBy } from '../../server/process/system.ts'
import { logNotReloaded, readTls } from '../../server/listen/tls-files.ts'
import { makeUnsealer } from '../../server/keys/unsealer.ts'
import { endingSignals } from '../../server/process/vault-process.ts'
import {
  startWorker,
  type WorkerParts,
  type WorkerProcess,
} from '../../server/process/worker-process.ts'
import { reportTogether, type LeaderReport } from '../../server/process/leader-reports.ts'
import {
  leadWorkers,
  type WorkerLeader,
  type WorkerKey,
} from '../../server/process/worker-sealing.ts'
import { sweeper, type WorkerOrder } from '../../server/process/worker.ts'
import { makeLockWaker } from '../../store/lmdb/lock-waiters.ts'
import {
  announcer,
  rowsIn,
  startBackupsOf,
  type ServiceContext,
  type ServeOptions,
} from './serve-shared.ts'

/**
 * @returns the folder, locked, once everything that a worker needs was found; its keys are wiped,
 *   and each worker reads the master key for itself
 * @throws CommandFailure
 */
export async function lockAndCheck(
  options: FolderOptions,
): Promise<LockedFolder & { readonly rows?: number }> {
  const folder = lockDataFolder(options)
  clearLeftovers(folder)
  const { store } = await openStoreOf(folder, { onFailure: () => {} })
  const keys = await unsealKeysOf(store, folder)
  keys.wipe()
  const rows = await rowsIn(store)
  await store.close()
  return { ...folder, ...rows }
}

/** @throws CommandFailure */
async function lockFor(options: ServeOptions): Promise<SealedFolder & { readonly rows?: number }> {
  if (options.sealed === true) return lockSealed(options.data)
  return { ...(await lockAndCheck(folderOf(options))), wasKilled: false }
}

/** If it cannot be read, each worker finds that out for itself. */
function readMark(clockFile: string): { readonly mark?: string } {
  try {
    return { mark: openClockFile(clockFile).read() }
  } catch {
    return {}
  }
}

type OrderOfAll = Omit<WorkerOrder, 'key' | 'mark'>

/** @returns a function that starts a worker: one of the first ones, or a replacement later */
function makeStarter(
  { lockFile: lock, clock }: SealedFolder,
  order: OrderOfAll,
  { file: listener }: ListeningSocket,
  parts: Pick<WorkerParts, 'reports' | 'log'>,
) {
  const given = { files: { lock, listener }, ...parts }
  const before = readMark(clock)
  const begun = new Set<number>()
  return (index: number, workerKey: WorkerKey | undefined): WorkerProcess => {
    const mark = begun.has(index) ? {} : before
    begun.add(index)
    if (workerKey === undefined) return startWorker(index, { ...order, key: 'none' }, given)
    if (workerKey === 'own') return startWorker(index, { ...order, ...mark, key: 'own' }, given)
    return startWorker(index, { ...order, key: 'handed' }, given, workerKey.keyringKey)
  }
}

function leadFor(
  folder: SealedFolder,
  options: ServeOptions,
  start: ReturnType<typeof makeStarter>,
  log: Log,
): WorkerLeader {
  const tryKey = async (masterKey: Uint8Array, wasKilled: boolean) => {
    const keyringKey = await tryLocked(folder, masterKey, { onFailure: () => {}, wasKilled })
    return { keyringKey, ...readMark(folder.clock) }
  }
  const first = options.sealed === true ? undefined : 'own'
  return leadWorkers({ start, tryKey, log }, first, folder.wasKilled)
}

/** Reports invalid files once, without asking any worker to reload. */
function reload(tls: TlsFiles | undefined, supervisor: Supervisor, log: Log): void {
  if (tls === undefined) return
  try {
    readTls(tls)
  } catch (error) {
    return logNotReloaded(error, log)
  }
  supervisor.reload()
}

/**
 * @param all facts of all workers, which the answering worker does not know
 * @returns operations as a worker does them
 */
const operationsOf =
  (operate: ControlOperation, all: () => Facts) =>
  (_: WorkerKey, name: string): ControlOperation =>
    name === 'status' ? async (...asked) => ({ ...(await operate(...asked)), ...all() }) : operate

function orderFor(
  options: ServeOptions,
  config: Config,
  address: TcpAddress,
  { manager }: ServiceContext,
): OrderOfAll {
  const { workers, tls, checkPath, logs, settings, erasureLog, drainSeconds } = config
  const { checkpointsTo } = config
  return {
    parent: process.pid,
    folder: folderOf(options),
    address,
    tls,
    checkPath,
    drainSeconds,
    settings,
    logs,
    workers,
    erasureLog,
    checkpointsTo,
    beatMs: manager.watchMs,
  }
}

export async function serveTogether(
  options: ServeOptions,
  config: Config,
  asked: TcpAddress,
  given: ServiceContext,
): Promise<void> {
  const { workers, tls, ops, logs, drainSeconds } = config
  const { manager, start: begun, facts } = given
  const log = logToStderrBy(logs)
  if (process.platform !== 'linux') {
    throw usage('--workers or COFFER_WORKERS: expected 1 on this platform')
  }
  const folder = await lockFor(options)
  watchFolder(folder.data, cause => endAfterFailure(cause, log))
  if (tls !== undefined) readTls(tls)
  const socket = given.handed ?? (await openForWorkers(asked))
  const order = orderFor(options, config, { ...asked, ...socket.address }, given)
  const stopped = untilSignalled(endingSignals)
  const backups = startBackupsOf(options, config, log)
  let told: LeaderReport | undefined
  const lead = leadFor(
    folder,
    options,
    makeStarter(folder, order, socket, { reports: () => told?.reports, log }),
    log,
  )
  const { start, operation } = lead
  const sealing = sealedWith(lead.sealing, backups)
  const sealable = { sealing, unsealer: makeUnsealer(sealing, log) }
  const wakeOthers = makeLockWaker(folder.store)
  const drainMs = drainSeconds * 1_000
  const supervisor = makeSupervisor(workers, { start, drainMs, wakeOthers, elapsedMs, log })
  told = reportTogether(supervisor, backups, facts)
  const url = addressText(order.address, tls !== undefined)
  const status = `Listens on ${url}, ${workers} workers`
  reloadOnHangUp(() => {
    manager.reloading()
    reload(tls, supervisor, log)
    manager.ready(status)
  })
  const ends: (() => Promise<void> | void)[] = []
  try {
    // At once, so that a caller who waits for the workers gets an answer.
    const opsServer = ops && (await listenOps(ops, told.report, sealable.unsealer.takeShare))
    if (opsServer) ends.push(opsServer.stop)
    const ready = supervisor.isReady.then(() => {
      // The last worker may listen just as all are told to end.
      if (supervisor.isStopping()) return
      const ofAll = { ops_address: opsServer?.address ?? null }
      const all = () => ({ ...ofAll, ...factsOfBackups(backups) })
      const find = operationsOf(operation(sweeper), all)
      ends.unshift(startVaultControl(folder.control, sealable, find, log).stop)
      announcer(options, config, log, { ...begun, rows: folder.rows })(url, opsServer?.address)
      manager.ready(status)
      ends.push(manager.watch(() => supervisor.isWell(2 * (manager.watchMs ?? 0))))
    })
    await Promise.race([ready, supervisor.failed, stopped])
    log('stopping', { signal: await Promise.race([supervisor.failed, stopped]) })
  } finally {
    manager.stopping()
    told.reports.stop()
    // Otherwise callers would wait in the queue of a socket that nobody accepts from.
    closeSync(socket.file)
    await supervisor.stop()
    for (const end of ends) await end()
    await backups?.stop()
  }
  log('stopped')
}
