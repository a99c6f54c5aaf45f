/**
 * The life of a serving process, alone or beside others: an opened folder becomes a server, until a
 * signal ends it.
 * @module
 */
import { closeSync } from 'node:fs'
import type { TcpAddress, TlsFiles } from '../../settings/config.ts'
import type { Log } from '../../deps.ts'
import { drainSettleMs } from '../../limits/operation-limits.ts'
import { makeScheduler } from '../../lib/work.ts'
import { type Places, startVaultControl, whileOpen } from '../listen/control-operations.ts'
import { findIn } from '../listen/control.ts'
import { makeFront, makeSealedApp, type CheckAddress } from '../listen/front.ts'
import type { ListeningSocket } from '../listen/listening-sockets.ts'
import { outliveTerminal, reloadOnHangUp } from './hang-up.ts'
import {
  closeVault,
  keepAliveOf,
  openVault,
  type OpenedVault,
  type ServedVault,
  type VaultUse,
} from './open-vault.ts'
import { listenOps } from '../watch/ops.ts'
import { sealedWith } from '../backup/schedule.ts'
import { makeSealing, type SealSwitch } from '../keys/sealing.ts'
import { startListening, untilSignalled, type ServerListener } from './server.ts'
import type { ServiceManager } from './service-manager.ts'
import { statesOf, watchStates } from '../watch/states.ts'
import { elapsedMs, randomBytes, wallMs } from './system.ts'
import { failingOf, mayBeSent, type Checks, type ProcessReport } from '../watch/process-report.ts'
import { makeUnsealer } from '../keys/unsealer.ts'
import type { RunningReports } from '../watch/status-reports.ts'
import { checksOf, makeWatch, type Watch } from '../watch/watch.ts'
import type { WorkerDuties } from './worker-channel.ts'

/** Signals that end a service. */
export const endingSignals = ['SIGTERM', 'SIGINT'] as const

interface Serving extends VaultUse {
  /** Absent if it starts sealed. */
  readonly first?: OpenedVault | undefined
  /**
   * Opens the folder, which this process has locked, again.
   * @param key the master key, or the keyring key for one of several processes; wiped
   */
  readonly reopen: (key: Uint8Array) => Promise<OpenedVault>
  /** Path of the control socket, for a process that serves alone. */
  readonly control?: string
  readonly tls?: TlsFiles | undefined
  /** Address for health and metrics. */
  readonly ops?: TcpAddress | undefined
  /** Gets the functions by which a leading process directs this one, once it listens. */
  readonly answerLeader?: (duties: WorkerDuties) => void
  /** Makes the answers of `/status` of the reports of this process. */
  readonly reportsBy: (report: ProcessReport) => RunningReports
  /** Path of the readiness check on its own port; none if absent. */
  readonly checkPath?: string | undefined
  /** Socket to listen on, in place of the address. */
  readonly handed?: ListeningSocket | undefined
  readonly drainSeconds: number
  /** The service manager or supervisor that started this process, if any. */
  readonly manager: ServiceManager
  /** Called once, when it listens. */
  readonly announce: (address: string, opsAddress?: string) => void
}

/** State that reports refer to, and that is set later. */
interface Late {
  sealing?: Pick<SealSwitch<ServedVault>, 'current'>
  listening?: ServerListener
  isStopping?: boolean
}

interface Watching {
  readonly watch: Watch
  readonly reports: RunningReports
  readonly check: CheckAddress | undefined
  readonly stopLooking: () => void
}

/** A late backup must not divert requests. */
const checkAt = (path: string, checks: Checks): CheckAddress => ({
  path,
  isReady: () => mayBeSent(failingOf({ ...checks, backup: () => false })),
})

/** Starts the reports: answers count from now on. */
function startWatching(serving: Serving, late: Late): Watching {
  const { reportsBy, sharing, backups, checkPath, logging } = serving
  const current = (): ServedVault | undefined => late.sealing?.current()
  const isStopping = (): boolean => late.isStopping === true
  const checks = checksOf({ current, isStopping, backups })
  const check = checkPath === undefined ? undefined : checkAt(checkPath, checks)
  // For a folder one process reports; for a database each, as its connections are its own.
  const tells = () => sharing?.sweeps !== false || current()?.opened.database !== undefined
  const stopLooking = watchStates(statesOf(checks, tells), logging.log)
  const certificateUntilMs = () => late.listening?.certificateUntilMs?.()
  const watched = { current, isStopping, backups, worker: sharing?.name, certificateUntilMs }
  const watch = makeWatch(watched, checks)
  const reports = reportsBy(watch)
  return {
    watch,
    reports,
    check,
    stopLooking() {
      stopLooking()
      reports.stop()
    },
  }
}

/** Makes an application that answers both sealed and unsealed, and the switch between the two. */
function makeSealable(
  serving: Serving,
  first: ServedVault | undefined,
  { watch, reports, check }: Watching,
) {
  const { settings, logging, reopen, address, sharing, backups } = serving
  const { log } = logging
  const makeSealed = () =>
    makeSealedApp({
      now: wallMs,
      settled: wallMs,
      elapsedMs,
      turns: makeScheduler(elapsedMs),
      randomBytes,
      log,
      settings,
      keepAliveSeconds: keepAliveOf(address),
    })
  const front = makeFront(first?.answering.app ?? makeSealed(), check)
  const own = makeSealing<ServedVault>(
    {
      async open(key) {
        const open = openVault(serving, await reopen(key), watch.observe, reports)
        front.swap(open.answering.app)
        return open
      },
      async close(open) {
        try {
          front.swap(makeSealed())
        } finally {
          // The open application refuses by itself from now on.
          await closeVault(open)
        }
        // The leading process logs it once for all.
        if (sharing === undefined) log('sealed')
      },
    },
    first,
  )
  const sealing = sealedWith(own, backups)
  return { front, sealing, unsealer: makeUnsealer(sealing, log) }
}

type SealableProcess = ReturnType<typeof makeSealable>

const findOperation = ({ operations }: ServedVault, name: string) => findIn(operations)(name)

/** Functions by which another process directs this one. */
const dutiesOf = ({ sealing }: SealableProcess, told: ProcessReport): WorkerDuties => ({
  told,
  seal: sealing.seal,
  unseal: sealing.unseal,
  find: name => findOperation(whileOpen(sealing), name),
})

/**
 * True if this process works: it was able to run this check, and can read its store. A database is
 * outside of this process, and a restart would not mend it.
 */
const isWellIn =
  ({ sealing }: SealableProcess) =>
  (): boolean => {
    const { opened } = sealing.current() ?? {}
    if (opened === undefined || opened.database !== undefined) return true
    try {
      return opened.store.figures() !== undefined
    } catch {
      return false
    }
  }

/** Serves until proxies send elsewhere, then leaves a handed socket to the next process. */
async function drainConnections(
  { drainSeconds, handed }: Serving,
  { front }: SealableProcess,
  { close }: ServerListener,
): Promise<void> {
  if (drainSeconds === 0 && close === undefined) return
  front.leave()
  await Bun.sleep(drainSeconds * 1_000)
  close?.()
  // Callers are refused once no process has it, and do not wait for one that ends.
  if (handed !== undefined) closeSync(handed.file)
  await Bun.sleep(drainSettleMs)
}

/** Serves until a signal, and then ends in order. */
export async function serveUntilSignalled(asked: Omit<Serving, 'places'>): Promise<void> {
  const places: Places = {}
  const serving = { ...asked, places }
  const { first, address, tls, ops, sharing, announce, logging } = serving
  const { handed, manager, control: path, answerLeader } = serving
  const late: Late = {}
  const watching = startWatching(serving, late)
  const { watch, reports } = watching
  const open = first && openVault(serving, first, watch.observe, reports)
  const sealable = makeSealable(serving, open, watching)
  late.sealing = sealable.sealing
  const { front, sealing, unsealer } = sealable
  outliveTerminal()
  const stopped = untilSignalled(endingSignals)
  const options = { tls, handed }
  const listening = await startListening(front.listener, logging, address, options)
  late.listening = listening
  const status = `Listens on ${listening.address}`
  reloadOnHangUp(async () => {
    manager.reloading()
    await listening.reload?.()
    manager.ready(status)
  })
  const opsServer = ops && (await listenOps(ops, watch, unsealer.takeShare))
  const control = path && startVaultControl(path, sealable, findOperation, logging.log)
  answerLeader?.(dutiesOf(sealable, watch))
  Object.assign(places, { address: listening.address, opsAddress: opsServer?.address })
  announce(listening.address, opsServer?.address)
  manager.ready(status)
  const stopWatching = manager.watch(isWellIn(sealable))
  const signal = await stopped
  // The supervisor logs it for all workers.
  const log: Log = sharing === undefined ? logging.log : () => {}
  log('stopping', { signal })
  late.isStopping = true
  manager.stopping()
  await drainConnections(serving, sealable, listening)
  watching.stopLooking()
  if (control) await control.stop()
  const last = sealing.current()
  if (last === undefined) await listening.stop()
  else await closeVault(last, listening)
  listening.clear()
  await serving.erasures?.end()
  await opsServer?.stop()
  stopWatching()
  await serving.backups?.stop()
  log('stopped')
  await logging.end()
}
