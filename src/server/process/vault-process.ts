/**
 * What every serving process does, alone or beside others: an opened folder becomes a server, until
 * a signal ends it.
 * @module
 */
import type { Address, TcpAddress, TlsFiles } from '../../settings/config.ts'
import { primitives } from '../../crypto/primitives.ts'
import type { Deps, Log } from '../../deps.ts'
import { ApiError, invariant } from '../../lib/errors.ts'
import { drainSettleMs } from '../../limits/operation-limits.ts'
import type { Settings } from '../../settings/settings.ts'
import { makeScheduler } from '../../lib/waiting.ts'
import {
  administer,
  type AdministeredVault,
  type Offered,
  type Places,
} from '../listen/control-operations.ts'
import { buildApp } from '../listen/app.ts'
import { makeClock, type ClockMark } from './clock.ts'
import { findIn, startControl, type Control, type ControlOperation } from '../listen/control.ts'
import type { OpenedFolder } from '../folder/data-folder.ts'
import type { ErasureLog } from '../folder/erasure-log.ts'
import { CommandFailure } from './failure.ts'
import { makeFront, makeSealedApp, type CheckAddress } from '../listen/front.ts'
import type { HandedSocket } from '../listen/handed-socket.ts'
import { listenOps } from '../watch/ops.ts'
import { makeSealing, type SealSwitch } from '../keys/sealing.ts'
import {
  startAnswering,
  startListening,
  untilSignalled,
  type Answering,
  type ServerListener,
  type Sharing,
} from './server.ts'
import type { ServiceManager } from './service-manager.ts'
import { outliveTerminal, reloadOnHangUp } from './hang-up.ts'
import { elapsedMs, randomBytes, wallMs } from './system.ts'
import { statesOf, watchStates } from '../watch/states.ts'
import { makeUnsealer } from '../keys/unsealer.ts'
import { failingOf, mayBeSent, type Checks, type ProcessReport } from '../watch/process-report.ts'
import { checksOf, makeWatch, type Watch, type Watched } from '../watch/watch.ts'

/** What tells a service to end. */
export const endingSignals = ['SIGTERM', 'SIGINT'] as const

/** A folder with its keys. */
interface OpenedVault {
  readonly opened: OpenedFolder
  readonly mark: ClockMark
}

interface Serving extends AdministeredVault {
  /** Absent where it starts sealed. */
  readonly first?: OpenedVault
  /** Opens the folder again, which is this process's; absent where it cannot be sealed. */
  readonly reopen?: (masterKey: Uint8Array) => Promise<OpenedVault>
  /** The path of the control socket. */
  readonly control: string
  readonly startHoldMs: number
  readonly address: Address
  readonly tls?: TlsFiles | undefined
  /** Where health and metrics are told. */
  readonly ops?: TcpAddress | undefined
  /** Takes what is told in its place, of one of several processes. */
  readonly tell?: ((told: ProcessReport) => void) | undefined
  /** Where its own port says whether it may be sent requests; nowhere where it is absent. */
  readonly checkPath?: string | undefined
  readonly settings: Settings
  readonly sharing?: (Sharing & { readonly name: string }) | undefined
  /** Where deletes are listed. */
  readonly erasures?: ErasureLog | undefined
  /** What to listen on in place of the address. */
  readonly handed?: HandedSocket | undefined
  readonly drainSeconds: number
  /** Who started this process, where there is such a one. */
  readonly manager: ServiceManager
  /** Told once, where it listens. */
  readonly announce: (address: string, opsAddress?: string) => void
}

type OpeningVault = OpenedVault &
  Pick<Serving, 'startHoldMs' | 'settings' | 'erasures'> & { readonly log: Log }

/** By the clock of the database where there is one, so that all vaults say the same. */
const wallOf = ({ database }: OpenedFolder) => database?.clock.wallMs ?? wallMs

/** What the application needs, of a folder that was opened; with the clock, which is to be kept. */
export function makeDeps(opening: OpeningVault) {
  const { opened, mark, startHoldMs, settings, log, erasures } = opening
  const { store, keys } = opened
  const clock = makeClock({ wall: wallOf(opened), elapsedMs, mark, startHoldMs, log })
  const { now, settled } = clock
  const turns = makeScheduler(elapsedMs)
  const isStoreFar = opened.database !== undefined
  const time = { now, settled, elapsedMs, turns }
  const deps: Deps = { store, isStoreFar, keys, ...time, randomBytes, log, settings, erasures }
  // It serves all the same: what is not locked may be swapped, and is read by nobody more.
  if (!primitives.isLocked()) log('memory_not_locked')
  return { deps, clock }
}

type Observe = NonNullable<Deps['observe']>

/** One after the other, where there are several. */
function observeAll(observers: readonly (Observe | undefined)[]): Pick<Deps, 'observe'> {
  const present = observers.filter(observe => observe !== undefined)
  if (present.length === 0) return {}
  return {
    observe(seen) {
      for (const observe of present) observe(seen)
    },
  }
}

/** On a socket of the file system the server has no time of its own for one connection. */
const keepAliveOf = (address: Address): number | undefined =>
  'socket' in address ? undefined : address.keepAliveSeconds

/** A vault that is not sealed: all that is there with its keys alone. */
interface ServedVault extends Watched {
  readonly answering: Answering
  readonly operations: Offered
}

function openVault(serving: Serving, { opened, mark }: OpenedVault, count?: Observe): ServedVault {
  const { sharing, logging } = serving
  const { log, observe } = logging
  const { deps: plain, clock } = makeDeps({ ...serving, opened, mark, log })
  const asksMore = observe !== undefined
  const keepAliveSeconds = keepAliveOf(serving.address)
  const observers = observeAll([count, observe])
  const deps = { ...plain, keepAliveSeconds, ...observers, asksMore }
  const app = buildApp(deps)
  // Of several processes the one that sweeps does what one alone must do.
  const operations = sharing?.sweeps === false ? {} : administer(serving, opened, deps, clock)
  const isSweeper = (): boolean =>
    sharing?.sweeps !== false && opened.database?.isSweeper() !== false
  const { scrub } = opened.store
  const answering = startAnswering(deps, app, isSweeper, scrub)
  return { opened, deps, app, answering, operations, clock }
}

async function closeVault({ answering, opened, clock }: ServedVault, listening?: ServerListener) {
  await answering.end(listening)
  opened.keys.wipe()
  opened.ring.close()
  clock.keep()
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

/** Of one folder one process tells; of a database each, by connections of its own. */
const tellsStates = ({ sharing, first }: Serving): boolean =>
  sharing?.sweeps !== false || first?.opened.database !== undefined

/** What is told of the process, where anybody is: it counts from now on. */
async function startWatching(serving: Serving, late: Late): Promise<Watching> {
  const { ops, tell, sharing, backups, checkPath, logging } = serving
  const current = (): ServedVault | undefined => late.sealing?.current()
  const isStopping = (): boolean => late.isStopping === true
  const checks = checksOf({ current, isStopping, backups })
  const check = checkPath === undefined ? undefined : checkAt(checkPath, checks)
  const states = tellsStates(serving) ? statesOf(checks) : []
  const stopLooking = watchStates(states, logging.log)
  if (ops === undefined && tell === undefined) return { watch: undefined, check, stopLooking }
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
  const { settings, logging, reopen, address } = serving
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
      async open(masterKey) {
        invariant(reopen !== undefined, 'what cannot be opened again is not sealed')
        const open = openVault(serving, await reopen(masterKey), watch?.observe)
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
        log('sealed')
      },
    },
    first,
  )
  return { front, sealing, unsealer: makeUnsealer(sealing, log) }
}

type Sealable = ReturnType<typeof makeSealable>

/** Listens for those who run the vault, sealed or not. */
function startControlling(serving: Serving, { sealing, unsealer }: Sealable): Control {
  const { control, logging, reopen } = serving
  const ofSealing: Offered = {
    seal: async () => {
      if (reopen === undefined)
        throw new ApiError('conflict', 'workers cannot be sealed: stop them')
      await sealing.seal()
      return unsealer.status()
    },
    'seal-status': async () => unsealer.status(),
    'unseal-reset': async () => unsealer.reset(),
  }
  const find = (name: string): ControlOperation | undefined => {
    const own = findIn(ofSealing)(name)
    if (own !== undefined) return own
    const open = sealing.current()
    if (open === undefined) throw new CommandFailure('the vault is sealed: run coffer unseal')
    return findIn(open.operations)(name)
  }
  return startControl(control, find, logging.log, { unseal: unsealer.take })
}

/**
 * Whether this process does its work: its turns come, as it was asked at all, and its store can be
 * read. A database of others is no matter of this process: to start it anew would mend nothing.
 */
const isWellIn =
  ({ sealing }: Sealable) =>
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
  { front }: Sealable,
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
  const { first, address, tls, ops, sharing, reopen, announce, logging } = serving
  const { handed, manager } = serving
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
  const takeShare = reopen && unsealer.takeShare
  const opsServer = ops && watch && (await listenOps(ops, watch, takeShare))
  if (watch !== undefined) serving.tell?.(watch)
  const control = sharing?.sweeps === false ? undefined : startControlling(serving, sealable)
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
  await control?.stop()
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
