/**
 * A check of everything in a store, which changes nothing.
 *
 * It first reads the pages of the file by plain reads, and gives them to the engine only if they
 * are sound: a damaged page can end the engine without a message. Then it compares rows with
 * indexes, then opens every sealed value and adds up all rows. Source: hardening D8.
 * @module
 */
import { unfoundEntries } from '../audit/check-index.ts'
import { isPruneLogged } from '../audit/prune-point.ts'
import type { Keys } from '../crypto/keyring.ts'
import { attemptLater } from '../lib/errors.ts'
import { findingsShownMax } from '../limits/operation-limits.ts'
import { noProgress, type BeginProgress } from '../lib/progress.ts'
import type { Store } from '../store/contract.ts'
import { examinePages } from '../store/lmdb/inspect/damaged-pages.ts'
import { sumSealerOf } from '../records/sum-sealer.ts'
import { makeSumCheck, type SumCheck } from '../store/core/check-sum.ts'
import type { StoredSum } from '../store/operated.ts'
import { makeRecordCheck, type RowCounts } from '../vault/verify-rows.ts'
import { isStoreInDatabase } from '../server/folder/folder-database.ts'
import { openStoreOf, unsealKeysOf, type FoundFolder } from '../server/folder/data-folder.ts'
import { CommandFailure } from '../server/process/failure.ts'
import { elapsedMs } from '../server/process/system.ts'

/** One damage: to a page, to a row or its index entries, to a bundle of the log, or to the sum. */
export interface Damage {
  readonly kind: string
  readonly page?: number
  readonly ordinal?: number
  readonly sequence?: number
}

/**
 * A commit failed, after which a serving process ends; or the page that names the newest commit was
 * damaged. The present state is whole, and that of the commit before.
 */
const lostCommit = 'last_commit_unknown'

/** The oldest entries of the log were taken away, and not by the vault. */
export const logCutOff = 'log_cut_off'

/** The index of the log does not find the entries from this one on as it must. */
const logIndexDiffers = 'log_index_differs'

export interface Report {
  /** The first `findingsShownMax`. */
  readonly shown: Damage[]
  count: number
  /** Known once every row was read. */
  rows?: RowCounts
  /** Tells if the rows were compared with their sum; known once every row was read. */
  sum?: SumState
}

/** The sum over the rows was compared, or is not kept yet. */
type SumState = 'compared' | 'not_begun'

export const emptyReport = (): Report => ({ shown: [], count: 0 })

/** True if all damage is of that kind. */
const hasOnly = ({ shown }: Report, only: string): boolean =>
  shown.every(({ kind }) => kind === only)

/** Says what all the damage of a report means for the vault, and what to do. */
export function adviceOn(report: Report): string {
  if (hasOnly(report, lostCommit)) {
    return 'is whole up to the commit before the last, whose end is unknown: compare with a backup'
  }
  if (hasOnly(report, logIndexDiffers)) {
    return 'is whole, but GET /logs may leave out entries: run coffer audit reindex'
  }
  return 'is damaged: restore it from a backup'
}

function add(report: Report, damage: Damage): void {
  report.count += 1
  if (report.shown.length < findingsShownMax) report.shown.push(damage)
}

/**
 * True if the sum is to be compared. In a database there are parts of it before it is begun; in a
 * folder one that the keyring does not tell of was begun by a process that was cut off.
 */
function isBegun({ store }: FoundFolder, { parts }: StoredSum, { keepsSum }: Keys): boolean {
  return isStoreInDatabase(store)
    ? keepsSum === 'everywhere'
    : keepsSum !== 'nowhere' || parts.length > 0
}

function compareSum(
  report: Report,
  stored: StoredSum,
  { end }: SumCheck,
  hasBegun: boolean,
): SumState {
  if (!hasBegun) return 'not_begun'
  for (const kind of end(stored)) add(report, { kind })
  return 'compared'
}

/** Damage that `integrity` names keeps the entries from being read. */
async function comparePrunePoint(report: Report, store: Store, keys: Keys): Promise<void> {
  const isLogged = await attemptLater(isPruneLogged({ store, keys }))
  if (isLogged === undefined) add(report, { kind: 'log_damaged' })
  else if (!isLogged) add(report, { kind: logCutOff })
}

/** Entries are compared with their index where nothing else is damaged: all of them are read. */
async function compareLogIndex(
  report: Report,
  store: Store,
  keys: Keys,
  progress: BeginProgress,
): Promise<void> {
  if (report.count > 0) return
  const compare = async (): Promise<true> => {
    for await (const sequence of unfoundEntries({ store, keys, elapsedMs }, progress)) {
      add(report, { kind: logIndexDiffers, sequence })
    }
    return true
  }
  // A bundle that does not open.
  if ((await attemptLater(compare())) === undefined) add(report, { kind: 'log_damaged' })
}

/**
 * @param folder whose store no process writes to
 * @param report collects each damage
 * @param makeKeys called once the store is open
 * @param withLogIndex the search index of the log is compared as well, which no restore needs
 * @throws CommandFailure if it could not check everything
 */
export async function inspect(
  folder: FoundFolder,
  report: Report,
  makeKeys: (store: Store) => Promise<Keys>,
  progress: BeginProgress = noProgress,
  withLogIndex = false,
): Promise<void> {
  if (!isStoreInDatabase(folder.store)) {
    const { damaged, hasLostCommit } = examinePages(folder.store, progress)
    for (const page of damaged) add(report, { kind: 'page_damaged', page })
    if (hasLostCommit) add(report, { kind: lostCommit })
    if (damaged.length > 0) return
  }
  const { store } = await openStoreOf(folder, { onFailure: () => {}, readOnly: true })
  for (const finding of await store.integrity(progress)) add(report, finding)
  const keys = await makeKeys(store)
  await comparePrunePoint(report, store, keys)
  const { nextOrdinal } = await store.figures()
  const onRow = progress(nextOrdinal, 'values')
  const { check, counts } = makeRecordCheck(keys, finding => add(report, finding))
  const sum = makeSumCheck(sumSealerOf(keys))
  const stored = await store.eachRow(row => {
    onRow(row.ordinal)
    check(row)
    sum.add(row)
  }, sum.entriesFor)
  report.rows = counts
  report.sum = compareSum(report, stored, sum, isBegun(folder, stored, keys))
  if (withLogIndex) await compareLogIndex(report, store, keys, progress)
  await store.close()
}

export interface SoundVault {
  readonly keys: Keys
  readonly sum: SumState
}

/** @throws CommandFailure for any damage */
export async function inspectSound(
  folder: FoundFolder,
  progress: BeginProgress,
): Promise<SoundVault> {
  const report = emptyReport()
  let keys: Keys | undefined
  const keysOf = async (store: Store) => (keys = await unsealKeysOf(store, folder))
  await inspect(folder, report, keysOf, progress)
  const { count, sum } = report
  if (count === 0 && sum !== undefined && keys !== undefined) return { keys, sum }
  throw new CommandFailure(`the vault in ${folder.data} is damaged: see coffer verify`)
}
