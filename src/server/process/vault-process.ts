/**
 * What every serving process does, alone or beside others: an opened folder becomes a server, until
 * a signal ends it.
 * @module
 */
import type { TcpAddress, TlsFiles } from '../../settings/config.ts'
import type { Log } from '../../deps.ts'
import { drainSettleMs } from '../../limits/operation-limits.ts'
import { makeScheduler } from '../../lib/work.ts'
import type { Places } from '../listen/control-operations.ts'
import { findIn } from '../listen/control.ts'
import { startControlling, whileOpen } from '../listen/controlling.ts'
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
import { makeSealing, type SealSwitch } from '../keys/sealing.ts'
import { startListening, untilSignalled, type ServerListener } from './server.ts'
import type { ServiceManager } from './service-manager.ts'
import { statesOf, watchStates } from '../watch/states.ts'
import { elapsedMs, randomBytes, wallMs } from './system.ts'
import { failingOf, mayBeSent, type Checks, type ProcessReport } from '../watch/process-report.ts'
import { makeUnsealer } from '../keys/unsealer.ts'
import { checksOf, makeWatch, type Watch } from '../watch/watch.ts'
import type { Led } from './worker-channel.ts'

/** What tells a service to end. */
export const endingSignals = ['SIGTERM', 'SIGINT'] as const

interface Serving extends VaultUse {
  /** Absent where it starts sealed. */
  readonly first?: OpenedVault | undefined
  /**
   * Opens the folder again, which is this process's.
   * @param key the master key; of one of several processes, what seals the keyring; wiped
   */
  readonly reopen: (key: Uint8Array) => Promise<OpenedVault>
  /** The path of the control socket, for one that serves alone. */
  readonly control?: string
  readonly tls?: TlsFiles | undefined
  /** Where health and metrics are told. */
  readonly ops?: TcpAddress | undefined
  /** Takes what leads this process, of one of several, once it listens. */
  readonly lead?: (led: Led) => void
  /** Whether it counts what it answers for who leads it. */
  readonly isWatched?: boolean
  /** Where its own port says whether it may be sent requests; nowhere where it is absent. */
  readonly checkPath?: string | undefined
  /** What to listen on in place of the address. */
  readonly handed?: ListeningSocket | undefined
  readonly drainSeconds: number
  /** Who started this process, where there is such a one. */
  readonly manager: ServiceManager
  /** Told once, where it listens. */
  readonly announce: (address: string, opsAddress?: string) => void
}

/** What is asked of a process before it has anything to tell of: what it tells later. */
interface Late {
  sealing?: Pick<SealSwitch<ServedVault>, 'current'>
  listening?: ServerListener
  isStopping?: boolean
}

interface Watching {
  /** Absent where nobody is told. */
  readonly watch: Watch | undefined
  readonly check: CheckAddress | undefined
  readonly stopLooking: () => void
}

/** A late backup keeps no request from its answer. */
const checkAt = (path: string, checks: Checks): CheckAddress => ({
  path,
  isReady: () => mayBeSent(failingOf({ ...checks, backup: () => false })),
})

/** What is told of the process, where anybody is: it counts from now on. */
async function startWatching(serving: Serving, late: Late): Promise<Watching> {
  const { ops, isWatched, sharing, backups, checkPath, logging } = serving
  const current = (): ServedVault | undefined => late.sealing?.current()
  const isStopping = (): boolean => late.isStopping === true
  const checks = checksOf({ current, isStopping, backups })
  const check = checkPath === undefined ? undefined : checkAt(checkPath, checks)
  // Of one folder one process tells; of a database each, by connections of its own.
  const tells = () => sharing?.sweeps !== false || current()?.opened.database !== undefined
  const stopLooking = watchStates(statesOf(checks, tells), logging.log)
  if (ops === undefined && isWatched !== true) return { watch: undefined, check, stopLooking }
  const certificateUntilMs = () => late.listening?.certificateUntilMs?.()
  const watched = { current, isStopping, backups, worker: sharing?.name, certificateUntilMs }
  return { watch: await makeWatch(watched, checks), check, stopLooking }
}

/** Answers whether the vault is sealed or not, in turn. */
function makeSealable(
  serving: Serving,
  first: ServedVault | undefined,
  { watch, check }: Watching,
) {
  const { settings, logging, reopen, address, sharing } = serving
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
  const sealing = makeSealing<ServedVault>(
    {
      async open(key) {
        const open = openVault(serving, await reopen(key), watch?.observe)
        front.swap(open.answering.app)
        return open
      },
      async close(open) {
        try {
          front.swap(makeSealed())
        } finally {
          // What was open refuses by itself from now on.
          await closeVault(open)
        }
        // Who leads this process says it once for all.
        if (sharing === undefined) log('sealed')
      },
    },
    first,
  )
  return { front, sealing, unsealer: makeUnsealer(sealing, log) }
}

type SealableProcess = ReturnType<typeof makeSealable>

const findOperation = ({ operations }: ServedVault, name: string) => findIn(operations)(name)

/** What another process has this one do. */
const ledOf = ({ sealing }: SealableProcess, told: ProcessReport | undefined): Led => ({
  told,
  seal: sealing.seal,
  unseal: sealing.unseal,
  find: name => findOperation(whileOpen(sealing), name),
})

/**
 * Whether this process does its work: its turns come, as it was asked at all, and its store can be
 * read. A database of others is no matter of this process: to start it anew would mend nothing.
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

/** Goes on until proxies send elsewhere, and then leaves a handed socket to the next process. */
async function drainConnections(
  { drainSeconds }: Serving,
  { front }: SealableProcess,
  { close }: ServerListener,
): Promise<void> {
  if (drainSeconds === 0 && close === undefined) return
  front.leave()
  await Bun.sleep(drainSeconds * 1_000)
  close?.()
  await Bun.sleep(drainSettleMs)
}

/** Serves until it is told to end, and then ends in order. */
export async function serveUntilSignalled(asked: Omit<Serving, 'places'>): Promise<void> {
  const places: Places = {}
  const serving = { ...asked, places }
  const { first, address, tls, ops, sharing, announce, logging } = serving
  const { handed, manager, control: path, lead } = serving
  const late: Late = {}
  const watching = await startWatching(serving, late)
  const { watch } = watching
  const open = first && openVault(serving, first, watch?.observe)
  const sealable = makeSealable(serving, open, watching)
  late.sealing = sealable.sealing
  const { front, sealing, unsealer } = sealable
  outliveTerminal()
  const stopped = untilSignalled(endingSignals)
  const options = { sharing, tls, handed }
  const listening = await startListening(front.listener, logging, address, options)
  late.listening = listening
  const status = `Listens on ${listening.address}`
  reloadOnHangUp(async () => {
    manager.reloading()
    await listening.reload?.()
    manager.ready(status)
  })
  const opsServer = ops && watch && (await listenOps(ops, watch, unsealer.takeShare))
  const control = path && startControlling(path, sealable, findOperation, logging.log)
  lead?.(ledOf(sealable, watch))
  Object.assign(places, { address: listening.address, opsAddress: opsServer?.address })
  announce(listening.address, opsServer?.address)
  manager.ready(status)
  const stopWatching = manager.watch(isWellIn(sealable))
  const signal = await stopped
  // Of workers the one that started them says so.
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
