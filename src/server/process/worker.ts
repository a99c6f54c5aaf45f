/**
 * `coffer worker`: one of the processes of `coffer serve --workers`, which alone starts it.
 *
 * It takes its order from stdin and not from files or variables, so that one which is started again
 * serves as the others do, whatever was changed meanwhile. What it is asked comes after it, and it
 * says on stdout first that it listens. It ends with the process that started it, in whatever way
 * that one ends.
 * @module
 */
import { FFIType } from 'bun:ffi'
import type { TcpAddress, TlsFiles } from '../../settings/config.ts'
import { findInLibc } from '../../lib/libc.ts'
import { clockHoldMs, clockStartHoldMs } from '../../limits/operation-limits.ts'
import { type LogSettings } from '../../settings/serving-settings.ts'
import { shareOf, type Settings } from '../../settings/settings.ts'
import { markOf, sharedMark } from './clock-file.ts'
import { databaseUse } from '../folder/folder-database.ts'
import { isFolderLocked, joinDataFolder, type FolderOptions } from '../folder/data-folder.ts'
import { makeErasureLog } from '../folder/erasure-log.ts'
import { CommandFailure } from './failure.ts'
import { tellFailuresBy } from './failure-line.ts'
import { asHandedSocket } from '../listen/handed-socket.ts'
import type { ServiceManager } from './service-manager.ts'
import { startLogging } from '../watch/logging.ts'
import { serveUntilSignalled } from './vault-process.ts'
import { endAfterFailure, outliveReaders, say } from './system.ts'
import { linesOf, openChannel } from './worker-channel.ts'

/** What a worker is told, as JSON. It holds no secret. */
export interface WorkerOrder {
  /** The process that has the folder's lock and starts the workers. */
  readonly parent: number
  readonly folder: FolderOptions
  readonly address: TcpAddress
  /** Whether that is of a socket which the worker has as its `handedListener`. */
  readonly isHanded: boolean
  readonly drainSeconds: number
  /** How often it says that it is well; never where it is absent. */
  readonly beatMs?: number | undefined
  readonly tls?: TlsFiles | undefined
  readonly checkPath?: string | undefined
  readonly settings: Settings
  readonly logs: LogSettings
  /** How many there are. */
  readonly workers: number
  /** Whether it counts what it answers, and is asked. */
  readonly isWatched: boolean
  /** Where deletes are listed, of all workers. */
  readonly erasureLog?: string | undefined
  /** The mark of the clock from before the instance; only for one that begins with it. */
  readonly mark?: string
}

/** The open file with which a worker gets the lock of the folder. */
const handedLock = 3

/** The open file with which it gets the socket that all of them accept from. */
const handedListener = 4

/** What a worker tells of itself goes to who started it, a line end each time. */
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

/** The worker that sweeps; the one that is started in its place does so too. */
const sweeper = 0

const deathSignal = 1
const kill = 9

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

/** One that takes another's place comes to a clock that went on, whatever its wall has done. */
export const startHoldMsOf = ({ mark }: Pick<WorkerOrder, 'mark'>): number =>
  mark === undefined ? clockHoldMs : clockStartHoldMs

/**
 * Source: prctl(2), PR_SET_PDEATHSIG, which comes too late for a parent that is gone already.
 * @throws CommandFailure where this process would outlive its parent
 */
export function endWithParent(parent: number): void {
  const isTied = findInLibc({ prctl })?.prctl(deathSignal, kill) === 0
  if (isTied && process.ppid === parent) return
  throw new CommandFailure('this process is not tied to the one that started it')
}

/** Serves on an order from stdin, and says one line when it listens. */
export async function work(index: number): Promise<void> {
  const lines = linesOf(Bun.stdin.stream())
  const order = await readOrder(lines)
  const { parent, folder, address, tls, checkPath, settings, logs } = order
  const { workers, mark, erasureLog, isHanded, drainSeconds, beatMs } = order
  endWithParent(parent)
  if (!isFolderLocked(folder, handedLock)) throw notOrdered()
  outliveReaders()
  const channel = openChannel(lines)
  void channel.listen()
  tellFailuresBy(logs)
  const logging = startLogging(logs, index)
  const { log } = logging
  const opened = await joinDataFolder(folder, {
    onFailure: cause => endAfterFailure(cause, log),
    onDamage: () => log('newest_rows_damaged'),
    ...databaseUse(log),
    processes: workers,
    foldRows: settings.foldRows,
  })
  await serveUntilSignalled({
    first: { opened, mark: sharedMark(markOf(opened), mark) },
    control: opened.control,
    processId: parent,
    startHoldMs: startHoldMsOf(order),
    address,
    handed: isHanded ? asHandedSocket(handedListener) : undefined,
    drainSeconds,
    manager: supervisorOf(beatMs),
    tls,
    checkPath,
    settings: shareOf(settings, workers),
    logging,
    erasures: erasureLog === undefined ? undefined : makeErasureLog(erasureLog, log),
    sharing: { sweeps: index === sweeper, name: String(index) },
    tell: order.isWatched ? channel.answerBy : undefined,
    askForAll: channel.askForAll,
    announce: address => say(address),
  })
}
