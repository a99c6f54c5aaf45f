/**
 * A vault that has its keys: what answers requests, what its operators may have done, and the
 * upkeep beside it, until it is let go of.
 * @module
 */
import type { Address } from '../../settings/config.ts'
import { primitives } from '../../crypto/primitives.ts'
import type { Deps, Log } from '../../deps.ts'
import type { Settings } from '../../settings/settings.ts'
import { makeScheduler } from '../../lib/work.ts'
import { administer, type AdministeredVault, type Offered } from '../listen/control-operations.ts'
import { buildApp } from '../listen/app.ts'
import { makeClock, type ClockMark } from './clock.ts'
import type { OpenedFolder } from '../folder/data-folder.ts'
import type { ErasureLog } from '../folder/erasure-log.ts'
import { startAnswering, type Answering, type ServerListener, type Sharing } from './server.ts'
import { elapsedMs, randomBytes, wallMs } from './system.ts'
import type { Watched } from '../watch/watch.ts'

/** A folder with its keys. */
export interface OpenedVault {
  readonly opened: OpenedFolder
  readonly mark: ClockMark
  /** Source: `ClockParts`. */
  readonly startHoldMs: number
}

/** How a vault is served, whether it is sealed or not. */
export interface VaultUse extends AdministeredVault {
  readonly address: Address
  readonly settings: Settings
  readonly sharing?: (Sharing & { readonly name: string }) | undefined
  /** Where deletes are listed. */
  readonly erasures?: ErasureLog | undefined
}

type OpeningVault = OpenedVault & Pick<VaultUse, 'settings' | 'erasures'> & { readonly log: Log }

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
export const keepAliveOf = (address: Address): number | undefined =>
  'socket' in address ? undefined : address.keepAliveSeconds

/** A vault that is not sealed: all that is there with its keys alone. */
export interface ServedVault extends Watched {
  readonly answering: Answering
  readonly operations: Offered
}

export function openVault(serving: VaultUse, from: OpenedVault, count?: Observe): ServedVault {
  const { sharing, logging } = serving
  const { log, observe } = logging
  const { opened } = from
  const { deps: plain, clock } = makeDeps({ ...serving, ...from, log })
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

export async function closeVault(
  { answering, opened, clock }: ServedVault,
  listening?: ServerListener,
) {
  await answering.end(listening)
  opened.keys.wipe()
  opened.ring.close()
  clock.keep()
}
