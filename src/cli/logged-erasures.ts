/**
 * Erasures that a restore repeats by the audit log: what was deleted or expired after the backup.
 *
 * Every deletion has its entry in its own commit, so none that was answered is missing. A backup
 * has the log up to its own moment: entries behind that are of tokens that the backup has, or that
 * were made later, whatever any clock said. So the log must go on where that of the backup ends.
 * @module
 */
import { chainFrom, readPublicLog, type PublicLog } from '../audit/public-log.ts'
import { bundlesFrom } from '../audit/read-log.ts'
import { verifyLog } from '../audit/verify-log.ts'
import { equalBytes } from '../lib/bytes.ts'
import { ApiError } from '../lib/errors.ts'
import type { Erasure } from '../rules/erasures.ts'
import type { OperatedStore } from '../store/operated.ts'
import { CommandFailure } from '../server/process/failure.ts'
import { bundlesIn, entriesIn, openExport } from './audit-file.ts'
import { printFault } from './audit-verify.ts'

/** An export of an audit log that is to be repeated. */
export interface LogOfErasures {
  readonly file: string
  readonly log: PublicLog
  /** True if deletions that no checkpoint covers are repeated as well. */
  readonly isUnsignedTaken: boolean
}

/** Entries behind the log of a backup, once they are known to continue it. */
export interface Continuation {
  readonly file: string
  /** Sequence of the first entry that the backup has not. */
  readonly from: number
  /** Sequence of the first entry that no checkpoint covers; absent if all are signed. */
  readonly unsignedFrom: number | undefined
}

const refused = (file: string, why: string) =>
  new CommandFailure(`--erase-from-log: ${file} ${why}: nothing was restored`)

/** @throws CommandFailure if the file is no whole export */
export const openLogOfErasures = async (
  file: string,
  isUnsignedTaken: boolean,
): Promise<LogOfErasures> => ({ file, log: await openExport(file), isUnsignedTaken })

async function* leavesFrom(store: OperatedStore, from: number): AsyncGenerator<Uint8Array> {
  for await (const { first, leaves } of bundlesFrom(store, from)) {
    yield* leaves.slice(Math.max(0, from - first))
  }
}

/** Compares the log of the backup with the beginning of the export, entry by entry. */
async function assertGoesOn(store: OperatedStore, { file, log }: LogOfErasures): Promise<number> {
  const { from: oldest, next } = await store.logRange()
  const from = Math.max(oldest, log.pruned.size)
  if (from >= next) {
    throw refused(file, `begins with entry ${from}, and the backup ends with ${next - 1}`)
  }
  const own = leavesFrom(store, from)
  for await (const { sequence, leaf } of entriesIn(file)) {
    if (sequence < from) continue
    const { done, value } = await own.next()
    if (done === true) return next
    if (!equalBytes(leaf, value)) {
      throw refused(file, `is of another history than the backup from entry ${sequence} on`)
    }
  }
  if ((await own.next()).done === true) return next
  throw refused(file, `ends before the backup, which has ${next} entries: export a newer one`)
}

/** Verifies the export by the key that the backup names. @returns the first unsigned sequence */
async function assertVerified(
  store: OperatedStore,
  { file, log }: LogOfErasures,
): Promise<number | undefined> {
  const { announcements } = await readPublicLog(store)
  const vkey = announcements.at(-1)?.vkey
  if (vkey === undefined) throw refused(file, 'cannot be checked, as the backup names no key')
  try {
    const { agreed, fault, unknown } = await verifyLog({
      ...chainFrom(log, vkey),
      pruned: log.pruned,
      bundles: bundlesIn(file),
      pinned: undefined,
    })
    if (fault !== undefined) throw refused(file, `does not verify (${printFault(fault)})`)
    if (agreed === 0) throw refused(file, 'has no checkpoint by the key of the backup')
    return unknown.find(each => each.unknown === 'unsigned_tail')?.from
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw refused(file, 'is of another vault: it does not name the key of the backup')
  }
}

/** Anybody who had the file may have put an entry behind those that are signed. */
async function assertSignedErasures(file: string, from: number): Promise<void> {
  for await (const _ of erasuresBehind({ file, from })) {
    throw refused(
      file,
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
  exported: LogOfErasures,
): Promise<Continuation> {
  const unsignedFrom = await assertVerified(store, exported)
  const from = await assertGoesOn(store, exported)
  if (unsignedFrom !== undefined && !exported.isUnsignedTaken) {
    await assertSignedErasures(exported.file, Math.max(from, unsignedFrom))
  }
  return { file: exported.file, from, unsignedFrom }
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
  file,
  from,
}: Pick<Continuation, 'file' | 'from'>): AsyncGenerator<Erasure> {
  for await (const { sequence, text } of entriesIn(file)) {
    if (sequence < from) continue
    const entry = JSON.parse(text) as ErasingEntry
    const { tenant_id: tenantId, entity_id: id } = entry
    if (!isErasure(entry) || typeof tenantId !== 'string' || typeof id !== 'string') continue
    // The order of the log says that the token of the backup was made before.
    yield { tenantId, id, erasedAtMs: Number.POSITIVE_INFINITY }
  }
}
