/**
 * What every serving process does, alone or beside others: an opened folder becomes a server, until
 * a signal ends it.
 *
 * @module
 */
import { makeResealer } from '../administration/keys.ts'
import { makeOperations } from '../administration/operations.ts'
import type { Address, TcpAddress } from '../config.ts'
import { primitives } from '../crypto/primitives.ts'
import type { Deps, Log } from '../deps.ts'
import type { Settings } from '../settings.ts'
import { makeTurns } from '../waiting.ts'
import { makeClock, type ClockMark } from './clock.ts'
import { startControl, type Control } from './control.ts'
import type { OpenedFolder } from './data-folder.ts'
import { replaceMasterKey } from './next-master-key.ts'
import { startServer, untilSignalled, type Sharing } from './server.ts'
import { elapsedMs, randomBytes, wallMs } from './system.ts'
import { makeWatch } from './watch.ts'

/** What tells a service to end. */
export const endingSignals = ['SIGTERM', 'SIGINT'] as const

/** The end of a terminal ends no server. */
export function outliveTerminal(): void {
  process.on('SIGHUP', () => {})
}

interface Serving {
  readonly opened: OpenedFolder
  readonly mark: ClockMark
  readonly startHoldMs: number
  readonly address: Address
  /** Where health and metrics are told. */
  readonly ops?: TcpAddress | undefined
  readonly settings: Settings
  readonly log: Log
  readonly sharing?: Sharing
  /** Told once, where it listens. */
  readonly announce: (address: string, opsAddress?: string) => void
}

type OpeningVault = Pick<Serving, 'opened' | 'mark' | 'startHoldMs' | 'settings' | 'log'>

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
function administer({ opened, sharing, log }: Serving, deps: Deps): Control {
  const { store, ring, control } = opened
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

/** Serves until it is told to end, and then ends in order. */
export async function serveUntilSignalled(serving: Serving): Promise<void> {
  const { address, ops, sharing, announce, opened } = serving
  const { deps: plain, clock } = makeDeps(serving)
  const watch = ops === undefined ? undefined : await makeWatch(opened, plain)
  const deps = watch === undefined ? plain : { ...plain, observe: watch.observe }
  outliveTerminal()
  const stopped = untilSignalled(endingSignals)
  const server = await startServer(deps, address, sharing)
  const opsServer = ops && watch?.listen(ops, server.app)
  // Of several processes the one that sweeps does what one alone must do.
  const control = sharing?.sweeps === false ? undefined : administer(serving, deps)
  announce(server.address, opsServer?.address)
  await stopped
  await control?.stop()
  await server.stop()
  await opsServer?.stop()
  clock.keep()
}
