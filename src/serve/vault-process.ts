/**
 * What every serving process does, alone or beside others: an opened folder becomes a server, until
 * a signal ends it.
 *
 * @module
 */
import { makeResealer } from '../administration/keys.ts'
import { makeOperations } from '../administration/operations.ts'
import type { Address, TcpAddress, TlsFiles } from '../config.ts'
import { primitives } from '../crypto/primitives.ts'
import type { Deps, Log } from '../deps.ts'
import type { Settings } from '../settings.ts'
import { makeTurns } from '../waiting.ts'
import { makeClock, type ClockMark } from './clock.ts'
import type { BackupSchedule } from './backups/schedule.ts'
import { startControl, type Control } from './control.ts'
import type { OpenedFolder } from './data-folder.ts'
import type { Logging } from './logging.ts'
import { masterKeyReplacer } from './next-master-key.ts'
import { startServer, untilSignalled, type Sharing } from './server.ts'
import { elapsedMs, randomBytes, wallMs } from './system.ts'
import { makeWatch } from './watch.ts'

/** What tells a service to end. */
export const endingSignals = ['SIGTERM', 'SIGINT'] as const

/** The end of a terminal ends no server; whoever sends its signal asks for a look at the files. */
export function outliveTerminal(reload: () => void): void {
  process.on('SIGHUP', reload)
}

interface Serving {
  readonly opened: OpenedFolder
  readonly mark: ClockMark
  readonly startHoldMs: number
  readonly address: Address
  readonly tls?: TlsFiles | undefined
  /** Where health and metrics are told. */
  readonly ops?: TcpAddress | undefined
  readonly settings: Settings
  readonly logging: Logging
  readonly sharing?: Sharing
  /** Of the backups that are made meanwhile, if any. */
  readonly backups?: BackupSchedule | undefined
  /** Told once, where it listens. */
  readonly announce: (address: string, opsAddress?: string) => void
}

type OpeningVault = Pick<Serving, 'opened' | 'mark' | 'startHoldMs' | 'settings'> & {
  readonly log: Log
}

/** What the application needs, of a folder that was opened; with the clock, which is to be kept. */
export function makeDeps({ opened, mark, startHoldMs, settings, log }: OpeningVault) {
  const { store, keys } = opened
  const clock = makeClock({ wall: wallMs, elapsedMs, mark, startHoldMs, log })
  const { now, settled } = clock
  const turns = makeTurns(elapsedMs)
  const deps: Deps = { store, keys, now, settled, elapsedMs, turns, randomBytes, log, settings }
  // It serves all the same: what is not locked may be swapped, and is read by nobody more.
  if (!primitives.isLocked()) log('memory_not_locked')
  return { deps, clock }
}

/**
 * Listens for those who run the vault, and ends what a rotation has left to do when its process
 * ended.
 */
function administer({ opened, sharing, logging }: Serving, deps: Deps): Control {
  const { log } = logging
  const { store, ring, masterKeyFile, control } = opened
  const replaceMasterKey = masterKeyReplacer({ file: masterKeyFile, isOf: ring.isOf })
  const isShared = sharing !== undefined
  const vault = { deps, store, ring, isShared, replaceMasterKey }
  const reseal = makeResealer(vault)
  if (ring.keyring().dataKeys.length > 1) {
    reseal().then(
      ({ rows, damaged }) => log('resealed', { rows, damaged }),
      () => log('reseal_failed'),
    )
  }
  return startControl(control, makeOperations(vault, reseal), log)
}

type Observe = NonNullable<Deps['observe']>

/** One after the other, where there are several. */
function observeAll(observers: readonly (Observe | undefined)[]): Pick<Deps, 'observe'> {
  const [first, ...others] = observers.filter(observe => observe !== undefined)
  if (first === undefined) return {}
  if (others.length === 0) return { observe: first }
  return {
    observe(seen) {
      first(seen)
      for (const observe of others) observe(seen)
    },
  }
}

/** Serves until it is told to end, and then ends in order. */
export async function serveUntilSignalled(serving: Serving): Promise<void> {
  const { address, tls, ops, sharing, announce, opened, logging } = serving
  const { deps: plain, clock } = makeDeps({ ...serving, log: logging.log })
  const watch = ops === undefined ? undefined : await makeWatch(opened, plain, serving.backups)
  const deps = { ...plain, ...observeAll([watch?.observe, logging.observe]) }
  let reload = (): void => {}
  outliveTerminal(() => reload())
  const stopped = untilSignalled(endingSignals)
  const server = await startServer(deps, address, { sharing, tls })
  ;({ reload } = server)
  const opsServer = ops && watch?.listen(ops, server.app)
  // Of several processes the one that sweeps does what one alone must do.
  const control = sharing?.sweeps === false ? undefined : administer(serving, deps)
  announce(server.address, opsServer?.address)
  await stopped
  await control?.stop()
  await server.stop()
  await opsServer?.stop()
  await logging.end()
  clock.keep()
}
