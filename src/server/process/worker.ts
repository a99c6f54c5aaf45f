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
import { databaseUse } from '../folder/folder-database.ts'
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
import { answerAsked, handedFiles, linesOf } from './worker-channel.ts'

/** What a worker is told, as JSON. It holds no secret. */
export interface WorkerOrder {
  /** The process that has the folder's lock and starts the workers. */
  readonly parent: number
  readonly folder: FolderOptions
  /** Whether it reads the master key itself, is handed what opens the vault, or begins sealed. */
  readonly key: 'own' | 'handed' | 'none'
  readonly address: TcpAddress
  /** Whether that is of a socket which is handed to the worker. */
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
  /** The mark of the clock from before the vault was open; only for one that begins with it. */
  readonly mark?: string
}

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

/**
 * The worker that sweeps, and does what is asked at the control socket; the one that is started in
 * its place does so too.
 */
export const sweeper = 0

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

/** @returns what was handed over, in memory that is locked where possible */
function takeKey(): Uint8Array {
  const key = ownBytes(keyBytes)
  if (readSync(handedFiles.keys, key, 0, keyBytes, null) === keyBytes) return primitives.keep(key)
  key.fill(0)
  throw notOrdered()
}

/** Says with an empty line that nobody else may look into this process any more, and waits. */
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
  ...databaseUse(log),
  processes: workers,
  foldRows: settings.foldRows,
})

/** How a worker opens the folder: as it is ordered at first, and by a key that is handed to it. */
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
    /** @param mark of the clock from before anybody unsealed */
    again: async (key: Uint8Array, mark: string | undefined) =>
      marked(await byHanded(primitives.keep(key)), mark, clockStartHoldMs),
  }
}

/** Serves on an order from stdin, and says one line when it listens. */
export async function work(index: number): Promise<void> {
  const lines = linesOf(Bun.stdin.stream())
  const order = await readOrder(lines)
  const { parent, folder, address, tls, checkPath, settings, logs } = order
  const { workers, erasureLog, isHanded, drainSeconds, beatMs, isWatched } = order
  endWithParent(parent)
  if (!isFolderLocked(folder, handedFiles.lock)) throw notOrdered()
  outliveReaders()
  tellFailuresBy(logs)
  const logging = startLogging(logs, index)
  const { log } = logging
  const open = makeOpener(order, log)
  let mark: string | undefined
  await serveUntilSignalled({
    first: await open.first(),
    reopen: key => open.again(key, mark),
    processId: parent,
    address,
    handed: isHanded ? asHandedSocket(handedFiles.listener) : undefined,
    drainSeconds,
    manager: supervisorOf(beatMs),
    tls,
    checkPath,
    settings: shareOf(settings, workers),
    logging,
    erasures: erasureLog === undefined ? undefined : makeErasureLog(erasureLog, log),
    sharing: { sweeps: index === sweeper, name: String(index) },
    isWatched,
    lead: led => {
      const unseal = (asked?: string): Promise<void> => {
        mark = asked
        return led.unseal(takeKey())
      }
      void answerAsked(lines, { ...led, unseal })
    },
    announce: address => say(address),
  })
}
