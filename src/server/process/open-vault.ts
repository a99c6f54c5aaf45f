/**
 * A vault that has its keys: its application, its operations for operators, and its upkeep, until
 * it is closed.
 * @module
 */
import { makeAuditLog } from '../../audit/audit-log.ts'
import type { SignedCheckpoint } from '../../audit/checkpoints.ts'
import type { AuditEntry } from '../../audit/entry.ts'
import type { Address } from '../../settings/config.ts'
import { primitives } from '../../crypto/primitives.ts'
import type { Deps, Log, Reports } from '../../deps.ts'
import type { Settings } from '../../settings/settings.ts'
import { makeScheduler } from '../../lib/work.ts'
import { administer, type AdministeredVault, type Offered } from '../listen/control-operations.ts'
import { buildApp } from '../listen/app.ts'
import { makeClock, type ClockMark } from './clock.ts'
import {
  makeCheckpointCopies,
  openCheckpointPlace,
  type CheckpointCopies,
} from '../backup/checkpoint-copies.ts'
import { systemSend } from '../../webhooks/system-send.ts'
import { makeWitnessedLog, readWitness, type WitnessedLog } from '../witness/ask-witnesses.ts'
import type { OpenedFolder } from '../folder/data-folder.ts'
import type { ErasureLog } from '../folder/erasure-log.ts'
import { startAnswering, type Answering, type ServerListener, type Sharing } from './server.ts'
import { elapsedMs, randomBytes, wallMs } from './system.ts'
import type { Watched } from '../watch/watch.ts'

/** An opened folder with its keys, and the mark of its clock. */
export interface OpenedVault {
  readonly opened: OpenedFolder
  readonly mark: ClockMark
  /** Source: `ClockParts`. */
  readonly startHoldMs: number
}

/** Options for serving a vault, sealed or not. */
export interface VaultUse extends AdministeredVault {
  readonly address: Address
  readonly settings: Settings
  readonly sharing?: (Sharing & { readonly name: string }) | undefined
  /** List of erasures, to which deletes are added. */
  readonly erasures?: ErasureLog | undefined
  /** Address in a bucket for checkpoints of the audit log; none are sent if absent. */
  readonly checkpointsTo?: string | undefined
}

type OpeningVault = OpenedVault & Pick<VaultUse, 'settings' | 'erasures'> & { readonly log: Log }

/** All vaults of a shared database use its clock, so that they agree. */
const wallOf = ({ database }: OpenedFolder) => database?.clock.wallMs ?? wallMs

/** Makes the dependencies of the application, and the clock, whose mark is kept at the end. */
export function makeDeps(opening: OpeningVault) {
  const { opened, mark, startHoldMs, settings, log, erasures } = opening
  const { store, keys } = opened
  const clock = makeClock({ wall: wallOf(opened), elapsedMs, mark, startHoldMs, log })
  const { now, settled } = clock
  const turns = makeScheduler(elapsedMs)
  const isStoreFar = opened.database !== undefined
  const time = { now, settled, elapsedMs, turns }
  const audit = makeAuditLog({ store, keys, randomBytes, now, log })
  const parts = { store, isStoreFar, keys, ...time, randomBytes, log, audit }
  const deps: Deps = { ...parts, settings, erasures }
  // It serves all the same: unlocked memory may be swapped, but nobody else can read it.
  if (!primitives.isLocked()) log('memory_not_locked')
  return { deps, clock }
}

type Observe = NonNullable<Deps['observe']>

/** Calls all observers, one after the other. */
function observeAll(observers: readonly (Observe | undefined)[]): Pick<Deps, 'observe'> {
  const present = observers.filter(observe => observe !== undefined)
  if (present.length === 0) return {}
  return {
    observe(seen) {
      for (const observe of present) observe(seen)
    },
  }
}

/** For a Unix socket, the server has no keep-alive time per connection. */
export const keepAliveOf = (address: Address): number | undefined =>
  'socket' in address ? undefined : address.keepAliveSeconds

/** A vault that is not sealed: everything that exists only with its keys. */
export interface ServedVault extends Watched {
  readonly answering: Answering
  readonly operations: Offered
  /** True for one of the processes of a server: it enters start and end. */
  readonly isFirst: boolean
}

/** An entry of what happens to the vault as a whole. */
const lifeEntry = (atMs: number, operation: 'vaultStarted' | 'vaultStopped'): AuditEntry => ({
  atMs,
  actorType: 'vault',
  operation,
  entityIds: [],
  result: 200,
})

const copiesOf = ({ checkpointsTo }: VaultUse, deps: Deps): CheckpointCopies | undefined =>
  checkpointsTo === undefined
    ? undefined
    : makeCheckpointCopies(openCheckpointPlace(checkpointsTo, wallMs), deps)

const witnessedOf = (deps: Deps): WitnessedLog | undefined =>
  deps.settings.auditWitnesses.length === 0
    ? undefined
    : makeWitnessedLog(deps, systemSend(deps), deps.settings.auditWitnesses.map(readWitness))

export function openVault(
  serving: VaultUse,
  from: OpenedVault,
  count?: Observe,
  reports?: Reports,
): ServedVault {
  const { sharing, logging } = serving
  const { log, observe } = logging
  const { opened } = from
  const { deps: plain, clock } = makeDeps({ ...serving, ...from, log })
  const keepAliveSeconds = keepAliveOf(serving.address)
  const observers = observeAll([count, observe])
  const deps = { ...plain, keepAliveSeconds, ...observers, reports }
  const app = buildApp(deps)
  // If there are several processes, only the one that sweeps may do this work.
  const operations = sharing?.sweeps === false ? {} : administer(serving, opened, deps, clock)
  const isFirst = sharing?.sweeps !== false
  // Any of the processes over a database may hold its lease.
  const isSweeper = (): boolean => opened.database?.isSweeper() ?? isFirst
  if (isFirst) deps.audit.note(lifeEntry(deps.now(), 'vaultStarted'))
  const { scrub } = opened.store
  const { signing: place, store } = opened
  const copies = copiesOf(serving, deps)
  const witnessed = witnessedOf(deps)
  const offer = (checkpoint: SignedCheckpoint): void => {
    copies?.offer(checkpoint)
    witnessed?.offer(checkpoint)
  }
  const auditUpkeep = { place, figures: store.figures, offer }
  const answering = startAnswering(deps, app, { isSweeper, scrub, auditUpkeep })
  const { deliveries } = answering
  const watched = { copies, witnessed, deliveries }
  return { opened, deps, app, answering, operations, clock, isFirst, ...watched }
}

/** Ends what a vault has in memory once nothing runs in it. */
export function releaseVault({ opened, clock }: Pick<ServedVault, 'opened' | 'clock'>): void {
  opened.keys.wipe()
  opened.keyring.close()
  clock.keep()
}

export async function closeVault(vault: ServedVault, listening?: ServerListener): Promise<void> {
  try {
    if (vault.isFirst) vault.deps.audit.note(lifeEntry(vault.deps.now(), 'vaultStopped'))
    await vault.answering.end(listening)
  } finally {
    // Also where the store does not close: a sealed process has no keys.
    releaseVault(vault)
  }
}
