/**
 * Erasures that a restore repeats by the audit log: what was deleted or expired after the backup.
 *
 * Every deletion has its entry in its own commit, so none that was answered is missing. A backup
 * has the log up to its own moment: entries behind that are of tokens that the backup has, or that
 * were made later, whatever any clock said. So the log must go on where that of the backup ends.
 * @module
 */
import { chainFrom, readPublicLog } from '../../audit/public-log.ts'
import { bundlesFrom } from '../../audit/read-log.ts'
import { verifyLog } from '../../audit/verify-log.ts'
import { equalBytes } from '../../lib/bytes.ts'
import { ApiError } from '../../lib/errors.ts'
import type { Erasure } from '../../rules/erasures.ts'
import type { OperatedStore } from '../../store/operated.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { bundlesIn, entriesIn, openExport, type Export } from '../audit/audit-file.ts'
import { printFault } from '../audit/audit-verify.ts'

/** An export of an audit log that is to be repeated. */
export interface LogOfErasures {
  readonly exported: Export
  /** True if deletions that no checkpoint covers are repeated as well. */
  readonly isUnsignedTaken: boolean
}

/** Entries behind the log of a backup, once they are known to continue it. */
export interface Continuation {
  readonly exported: Export
  /** Sequence of the first entry that the backup has not. */
  readonly from: number
  /** Sequence of the first entry that no checkpoint covers; absent if all are signed. */
  readonly unsignedFrom: number | undefined
}

const refused = ({ name }: Export, why: string) =>
  new CommandFailure(`--erase-from-log: ${name} ${why}: nothing was restored`)

/** @throws CommandFailure if the file is no whole export */
export const openLogOfErasures = (file: string, isUnsignedTaken: boolean): LogOfErasures => ({
  exported: openExport(file),
  isUnsignedTaken,
})

async function* leavesFrom(store: OperatedStore, from: number): AsyncGenerator<Uint8Array> {
  for await (const { first, leaves } of bundlesFrom(store, from)) {
    yield* leaves.slice(Math.max(0, from - first))
  }
}

/** Compares the log of the backup with the beginning of the export, entry by entry. */
async function assertGoesOn(store: OperatedStore, exported: Export): Promise<number> {
  const { from: oldest, next } = await store.logRange()
  const from = Math.max(oldest, exported.log.pruned.size)
  if (from >= next) {
    throw refused(exported, `begins with entry ${from}, and the backup ends with ${next - 1}`)
  }
  const own = leavesFrom(store, from)
  for (const { sequence, leaf } of entriesIn(exported)) {
    if (sequence < from) continue
    const { done, value } = await own.next()
    if (done === true) return next
    if (!equalBytes(leaf, value)) {
      throw refused(exported, `is of another history than the backup from entry ${sequence} on`)
    }
  }
  if ((await own.next()).done === true) return next
  throw refused(exported, `ends before the backup, which has ${next} entries: export a newer one`)
}

/** Verifies the export by the key that the backup names. @returns the first unsigned sequence */
async function assertVerified(store: OperatedStore, exported: Export): Promise<number | undefined> {
  const { announcements } = await readPublicLog(store)
  const vkey = announcements.at(-1)?.vkey
  if (vkey === undefined) throw refused(exported, 'cannot be checked, as the backup names no key')
  try {
    const { agreed, fault, unknown } = await verifyLog({
      ...chainFrom(exported.log, vkey),
      pruned: exported.log.pruned,
      bundles: bundlesIn(exported),
      pinned: undefined,
    })
    if (fault !== undefined) throw refused(exported, `does not verify (${printFault(fault)})`)
    if (agreed === 0) throw refused(exported, 'has no checkpoint by the key of the backup')
    return unknown.find(each => each.unknown === 'unsigned_tail')?.from
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw refused(exported, 'is of another vault: it does not name the key of the backup')
  }
}

/** Anybody who had the file may have put an entry behind those that are signed. */
async function assertSignedErasures(exported: Export, from: number): Promise<void> {
  for await (const _ of erasuresBehind({ exported, from })) {
    throw refused(
      exported,
      `has deletions from entry ${from} on, which no checkpoint covers: export it again once the ` +
        'vault has run, or take them by --accept-unsigned',
    )
  }
}

/**
 * Checks that an export goes on where the log of a restored vault ends, and is what was signed.
 * @throws CommandFailure otherwise
 */
export async function assertContinues(
  store: OperatedStore,
  { exported, isUnsignedTaken }: LogOfErasures,
): Promise<Continuation> {
  const unsignedFrom = await assertVerified(store, exported)
  const from = await assertGoesOn(store, exported)
  if (unsignedFrom !== undefined && !isUnsignedTaken) {
    await assertSignedErasures(exported, Math.max(from, unsignedFrom))
  }
  return { exported, from, unsignedFrom }
}

interface ErasingEntry {
  readonly operation?: unknown
  readonly tenant_id?: unknown
  readonly entity_id?: unknown
  readonly reason?: unknown
}

/** False for a deletion that was refused: its entry has a reason. */
const isErasure = ({ operation, reason }: ErasingEntry): boolean =>
  reason === undefined && (operation === 'deleteToken' || operation === 'tokenExpired')

/** Erasures that came after the backup, in the order in which they landed. */
export async function* erasuresBehind({
  exported,
  from,
}: Pick<Continuation, 'exported' | 'from'>): AsyncGenerator<Erasure> {
  for (const { sequence, text } of entriesIn(exported)) {
    if (sequence < from) continue
    const entry = JSON.parse(text) as ErasingEntry
    const { tenant_id: tenantId, entity_id: id } = entry
    if (!isErasure(entry) || typeof tenantId !== 'string' || typeof id !== 'string') continue
    // The order of the log says that the token of the backup was made before.
    yield { tenantId, id, erasedAtMs: Number.POSITIVE_INFINITY }
  }
}
