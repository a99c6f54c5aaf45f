/**
 * `coffer worker`: one of the processes of `coffer serve --workers`, which alone starts it.
 *
 * It reads its order from stdin and not from files or variables, so that a restarted worker serves
 * like the others, whatever has changed meanwhile. Questions to it follow on stdin; its first line
 * on stdout says that it listens. It ends with the process that started it, however that ends.
 * @module
 */
import { FFIType } from 'bun:ffi'
import { readSync } from 'node:fs'
import { ownBytes } from '../../lib/bytes.ts'
import type { TcpAddress, TlsFiles } from '../../settings/config.ts'
import { keyBytes, primitives } from '../../crypto/primitives.ts'
import type { Log } from '../../deps.ts'
import { findInLibc } from '../../lib/libc.ts'
import { clockHoldMs, clockStartHoldMs, keyLookMs } from '../../limits/operation-limits.ts'
import { type LogSettings } from '../../settings/serving-settings.ts'
import { shareOf, type Settings } from '../../settings/settings.ts'
import { markOf, sharedMark } from './clock-file.ts'
import { databaseEvents } from '../folder/folder-database.ts'
import {
  isFolderLocked,
  joinDataFolder,
  openUnder,
  placesOf,
  type FolderOptions,
  type OpenedFolder,
  type StoreUse,
} from '../folder/data-folder.ts'
import { makeErasureLog } from '../folder/erasure-log.ts'
import { CommandFailure, systemCodeOf } from './failure.ts'
import { tellFailuresBy } from './failure-line.ts'
import { asHandedSocket } from '../listen/listening-sockets.ts'
import type { ServiceManager } from './service-manager.ts'
import { startLogging } from '../watch/logging.ts'
import { serveUntilSignalled } from './vault-process.ts'
import { endAfterFailure, outliveReaders, say, sayNow } from './system.ts'
import { makeAskedReports } from './report-channel.ts'
import { answerAsked, handedFiles, linesOf } from './worker-channel.ts'

/** The order of a worker, as JSON. It holds no secret. */
export interface WorkerOrder {
  /** The process that holds the folder's lock and starts the workers. */
  readonly parent: number
  readonly folder: FolderOptions
  /** `own`: it reads the master key itself. `handed`: it gets the keyring key. `none`: sealed. */
  readonly key: 'own' | 'handed' | 'none'
  /** Address of the listening socket that the worker inherits. */
  readonly address: TcpAddress
  readonly drainSeconds: number
  /** Interval at which it reports that it is well; never if absent. */
  readonly beatMs?: number | undefined
  readonly tls?: TlsFiles | undefined
  readonly checkPath?: string | undefined
  readonly settings: Settings
  readonly logs: LogSettings
  /** Number of workers. */
  readonly workers: number
  /** Path of the list of erasures, shared by all workers. */
  readonly erasureLog?: string | undefined
  /** Address in a bucket for checkpoints of the audit log. */
  readonly checkpointsTo?: string | undefined
  /** The mark of the clock from before the vault was opened; only for a first worker. */
  readonly mark?: string
}

/** Reports to the parent process that the worker is well: an empty line each time. */
const supervisorOf = (beatMs: number | undefined): ServiceManager => ({
  ready() {},
  reloading() {},
  stopping() {},
  watch(isWell) {
    if (beatMs === undefined) return () => {}
    const timer = setInterval(() => {
      if (isWell()) say('')
    }, beatMs)
    return () => clearInterval(timer)
  },
})

/**
 * Index of the worker that sweeps, and runs the operations of the control socket; its replacement
 * does the same.
 */
export const sweeper = 0

/** Source: prctl(2), PR_SET_PDEATHSIG. */
const setDeathSignal = 1
/** Source: signal(7), SIGKILL. */
const killSignal = 9

const prctl = { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 } as const

const notOrdered = () =>
  new CommandFailure('coffer serve --workers starts the workers: nobody else does', 2)

async function readOrder(lines: AsyncIterator<string>): Promise<WorkerOrder> {
  try {
    const { value } = await lines.next()
    return JSON.parse(String(value)) as WorkerOrder
  } catch {
    throw notOrdered()
  }
}

/** A replacement worker joins a clock that kept running: a wall far ahead of it has jumped. */
export const startHoldMsOf = ({ mark }: Pick<WorkerOrder, 'mark'>): number =>
  mark === undefined ? clockHoldMs : clockStartHoldMs

/**
 * The signal comes too late if the parent has already ended, so the parent is looked at as well.
 * @throws CommandFailure if this process would outlive its parent
 */
export function endWithParent(parent: number): void {
  const isTied = findInLibc({ prctl })?.prctl(setDeathSignal, killSignal) === 0
  if (isTied && process.ppid === parent) return
  throw new CommandFailure('this process is not tied to the one that started it')
}

/** @returns the key that was handed over, in locked memory if possible */
function takeKey(): Uint8Array {
  const key = ownBytes(keyBytes)
  if (readSync(handedFiles.keys, key, 0, keyBytes, null) === keyBytes) return primitives.keep(key)
  key.fill(0)
  throw notOrdered()
}

/** Says by an empty line that no other process can inspect this one any more, and waits. */
async function askForKey(): Promise<Uint8Array> {
  sayNow('')
  for (;;) {
    try {
      return takeKey()
    } catch (error) {
      if (systemCodeOf(error) !== 'EAGAIN') throw error
      await Bun.sleep(keyLookMs)
    }
  }
}

const storeUseOf = ({ workers, settings }: WorkerOrder, log: Log): StoreUse => ({
  onFailure: cause => endAfterFailure(cause, log),
  onDamage: () => log('newest_rows_damaged'),
  ...databaseEvents(log),
  processes: workers,
  foldRows: settings.foldRows,
})

/** Opens the folder: first as ordered, later with a key that is handed over. */
function makeOpener(order: WorkerOrder, log: Log) {
  const { folder, key: source } = order
  const use = storeUseOf(order, log)
  const byHanded = (key: Uint8Array) => openUnder(placesOf(folder.data), key, use)
  const marked = (opened: OpenedFolder, mark: string | undefined, startHoldMs: number) => ({
    opened,
    mark: sharedMark(markOf(opened), mark),
    startHoldMs,
  })
  return {
    async first() {
      if (source === 'none') return undefined
      const opened = await (source === 'own'
        ? joinDataFolder(folder, use)
        : byHanded(await askForKey()))
      return marked(opened, order.mark, startHoldMsOf(order))
    },
    /** @param mark of the clock from before the vault was unsealed */
    again: async (key: Uint8Array, mark: string | undefined) =>
      marked(await byHanded(primitives.keep(key)), mark, clockStartHoldMs),
  }
}

/** Serves by an order from stdin, and prints one line when it listens. */
export async function work(index: number): Promise<void> {
  const lines = linesOf(Bun.stdin.stream())
  const order = await readOrder(lines)
  const { parent, folder, address, tls, checkPath, settings, logs } = order
  const { workers, erasureLog, checkpointsTo, drainSeconds, beatMs } = order
  endWithParent(parent)
  if (!isFolderLocked(folder, handedFiles.lock)) throw notOrdered()
  outliveReaders()
  tellFailuresBy(logs)
  const logging = startLogging(logs, index)
  const { log } = logging
  const open = makeOpener(order, log)
  const reports = makeAskedReports()
  let mark: string | undefined
  await serveUntilSignalled({
    first: await open.first(),
    reopen: key => open.again(key, mark),
    processId: parent,
    address,
    handed: { ...asHandedSocket(handedFiles.listener), address },
    drainSeconds,
    manager: supervisorOf(beatMs),
    tls,
    checkPath,
    settings: shareOf(settings, workers),
    logging,
    erasures: erasureLog === undefined ? undefined : makeErasureLog(erasureLog, log),
    checkpointsTo,
    sharing: { sweeps: index === sweeper, name: String(index) },
    reportsBy: () => ({ ...reports, stop() {} }),
    answerLeader: duties => {
      const unseal = (asked?: string): Promise<void> => {
        mark = asked
        return duties.unseal(takeKey())
      }
      void answerAsked(lines, { ...duties, unseal }, reports)
    },
    announce: address => say(address),
  })
}
