/**
 * Groups of writes, for every engine: decides in memory what becomes of each write, one after the
 * other, each against the state that the earlier ones left.
 *
 * The draft of a group holds the effects of every change set accepted so far. Each set works on its
 * own draft on top and joins only as a whole, so a refused set leaves no trace. This code never
 * reaches an engine: it is given the stored state, and the engine puts what the draft contains.
 * Source: contract.ts, `Change` and `WriteOutcome`.
 * @module
 */
import { equalBytes } from '../../lib/bytes.ts'
import { invariant, type ApiError } from '../../lib/errors.ts'
import type { Digest, LogBundle, UnsealedEntry, WriteOutcome } from '../contract.ts'
import type {
  DerivedChange,
  PreparedChange,
  PreparedRow,
  RequiredDerived,
} from './prepare-change.ts'
import { keyOf, termKeysOf, type KeyedRow } from './row.ts'

/** The row that holds a unique now; `undefined` once it was given up. */
interface Holding {
  readonly unique: Digest
  readonly ordinal: number | undefined
}

/** Stored state, as one transaction sees it. Each may throw `storage_corrupt`. */
export interface StoredState {
  readonly rowAt: (ordinal: number) => KeyedRow | undefined
  /** The ordinal of the row that holds a unique. */
  readonly holderOf: (unique: Digest, key: string) => number | undefined
  /** The value beside the log under a key. */
  readonly derivedAt: (key: Uint8Array) => Uint8Array | undefined
}

export interface GroupDraft {
  readonly stored: StoredState
  /** Called with the changes of each accepted set before they join; it may refuse by throwing. */
  readonly onAccepted: (rowChanges: ReadonlyMap<number, RowChange>) => void
  nextOrdinal: number
  generation: number
  /** Rows as they will be; `undefined` if removed. */
  readonly rows: Map<number, PreparedRow | undefined>
  readonly holdings: Map<string, Holding>
  readonly log: LogDraft
}

/** Changes of a group to the log and to the values beside it. */
export interface LogDraft {
  readonly bundles: LogBundle[]
  /** They are not sealed before all sets are decided. */
  readonly entries: UnsealedEntry[]
  /** Values by the texts of their keys; the last one counts. */
  readonly derived: Map<string, DerivedChange>
  /** Sequence below which bundles are removed; 0 if none are. */
  pruneBelow: number
}

/** The same, once the entries are sealed. */
export interface SealedLog extends Pick<LogDraft, 'derived' | 'pruneBelow'> {
  readonly bundles: readonly LogBundle[]
}

/** Change of a row by one set: its state before the set and after it. */
export interface RowChange {
  readonly from: KeyedRow | undefined
  readonly to: PreparedRow | undefined
}

interface SetDraft {
  readonly group: GroupDraft
  nextOrdinal: number
  generation: number
  readonly rowChanges: Map<number, RowChange>
  /** Rows whose parts change and nothing else. */
  readonly resealed: Map<number, PreparedRow>
  readonly holdings: Map<string, Holding>
  /** Ordinals of the inserted and replaced rows, in the order of their changes. */
  readonly ordinals: number[]
  readonly log: LogDraft
}

const emptyLog = (): LogDraft => ({ bundles: [], entries: [], derived: new Map(), pruneBelow: 0 })

/** @param from the ordinal and generation to continue from */
export const makeGroupDraft = (
  from: Pick<GroupDraft, 'nextOrdinal' | 'generation'>,
  stored: StoredState,
  onAccepted: GroupDraft['onAccepted'],
): GroupDraft => ({
  ...from,
  stored,
  onAccepted,
  rows: new Map(),
  holdings: new Map(),
  log: emptyLog(),
})

const makeSetDraft = (group: GroupDraft): SetDraft => ({
  group,
  nextOrdinal: group.nextOrdinal,
  generation: group.generation,
  rowChanges: new Map(),
  resealed: new Map(),
  holdings: new Map(),
  ordinals: [],
  log: emptyLog(),
})

/** The row as this set sees it. @throws ApiError `storage_corrupt` */
function currentRow({ group, rowChanges }: SetDraft, ordinal: number): KeyedRow | undefined {
  const rowChange = rowChanges.get(ordinal)
  if (rowChange !== undefined) return rowChange.to
  if (group.rows.has(ordinal)) return group.rows.get(ordinal)
  return group.stored.rowAt(ordinal)
}

/** The ordinal of the row that holds a unique, as this set sees it. */
function currentHolder(draft: SetDraft, key: string, unique: Digest): number | undefined {
  const holding = draft.holdings.get(key) ?? draft.group.holdings.get(key)
  if (holding !== undefined) return holding.ordinal
  return draft.group.stored.holderOf(unique, key)
}

/** Replaces, adds or removes a row within the set, and hands its uniques over. */
function changeRow(
  draft: SetDraft,
  ordinal: number,
  current: KeyedRow | undefined,
  to: PreparedRow | undefined,
): void {
  const earlier = draft.rowChanges.get(ordinal)
  draft.rowChanges.set(ordinal, { from: earlier === undefined ? current : earlier.from, to })
  const given = current?.row.uniques
  current?.uniqueKeys.forEach((key, i) => {
    const unique = given?.[i]
    if (unique !== undefined) draft.holdings.set(key, { unique, ordinal: undefined })
  })
  to?.uniqueKeys.forEach((key, i) => {
    const unique = to.row.uniques[i]
    if (unique !== undefined) draft.holdings.set(key, { unique, ordinal })
  })
}

/** Result of one set: an outcome, or the fault that kept it from being decided. */
export type SetResult = { readonly outcome: WriteOutcome } | { readonly fault: ApiError }

type Refused = Extract<WriteOutcome, { readonly ok: false }>

const versionMoved = (at: number): Refused => ({ ok: false, at, reason: 'version_moved' })

/** @param own ordinal of the row being replaced, which may already hold them */
function refuseTaken(draft: SetDraft, row: PreparedRow, at: number, own?: number): Refused | void {
  for (const [i, key] of row.uniqueKeys.entries()) {
    const unique = row.row.uniques[i]
    invariant(unique !== undefined, 'a row has a key for each unique')
    const ordinal = currentHolder(draft, key, unique)
    if (ordinal !== undefined && ordinal !== own) {
      return { ok: false, at, reason: 'unique_taken', unique, ordinal }
    }
  }
}

/** @param uniqueKey of the first unique that the row must have; `undefined`: any */
function rowAtVersion(
  draft: SetDraft,
  ordinal: number,
  ifVersion: number,
  uniqueKey: string | undefined,
): KeyedRow | undefined {
  const current = currentRow(draft, ordinal)
  if (current?.row.version !== ifVersion) return undefined
  return uniqueKey === undefined || current.uniqueKeys[0] === uniqueKey ? current : undefined
}

function insertRow(draft: SetDraft, row: PreparedRow, at: number): Refused | void {
  const refused = refuseTaken(draft, row, at)
  if (refused) return refused
  const ordinal = draft.nextOrdinal
  draft.nextOrdinal += 1
  changeRow(draft, ordinal, undefined, row)
  draft.ordinals.push(ordinal)
}

function replaceRow(
  draft: SetDraft,
  { row, ordinal, ifVersion }: Extract<PreparedChange, { kind: 'replace' }>,
  at: number,
): Refused | void {
  const current = rowAtVersion(draft, ordinal, ifVersion, row.uniqueKeys[0])
  if (current === undefined) return versionMoved(at)
  const refused = refuseTaken(draft, row, at, ordinal)
  if (refused) return refused
  changeRow(draft, ordinal, current, row)
  draft.ordinals.push(ordinal)
}

const hasHeaderOf = (a: KeyedRow, b: KeyedRow): boolean =>
  a.row.deadlineMs === b.row.deadlineMs &&
  a.uniqueKeys.join() === b.uniqueKeys.join() &&
  termKeysOf(a).join() === termKeysOf(b).join()

function resealRow(
  draft: SetDraft,
  { row, ordinal }: Extract<PreparedChange, { kind: 'reseal' }>,
  at: number,
): Refused | void {
  invariant(
    !draft.rowChanges.has(ordinal),
    'a row is not resealed by a write that replaces or removes it',
  )
  const current = rowAtVersion(draft, ordinal, row.row.version, row.uniqueKeys[0])
  if (current === undefined) return versionMoved(at)
  invariant(hasHeaderOf(current, row), 'a resealed row has the header that it had')
  draft.resealed.set(ordinal, row)
}

function removeRow(
  draft: SetDraft,
  { ordinal, ifVersion, uniqueKey }: Extract<PreparedChange, { kind: 'remove' }>,
  at: number,
): Refused | void {
  const current =
    ifVersion === undefined
      ? currentRow(draft, ordinal)
      : rowAtVersion(draft, ordinal, ifVersion, uniqueKey)
  if (ifVersion !== undefined && current === undefined) return versionMoved(at)
  if (current !== undefined) changeRow(draft, ordinal, current, undefined)
}

/** True if the value beside the log, as this set sees it, is the one that it requires. */
function isDerivedAs(
  { log, group }: SetDraft,
  { requireDerived: key, ifValue }: RequiredDerived,
): boolean {
  const name = keyOf(key)
  const change = log.derived.get(name) ?? group.log.derived.get(name)
  const value = change === undefined ? group.stored.derivedAt(key) : change.value
  return value === undefined || ifValue === undefined
    ? value === ifValue
    : equalBytes(value, ifValue)
}

function applyChange(draft: SetDraft, change: PreparedChange, at: number): Refused | void {
  switch (change.kind) {
    case 'insert':
      return insertRow(draft, change.row, at)
    case 'replace':
      return replaceRow(draft, change, at)
    case 'reseal':
      return resealRow(draft, change, at)
    case 'remove':
      return removeRow(draft, change, at)
    case 'require': {
      const { ordinal, ifVersion, uniqueKey } = change
      return rowAtVersion(draft, ordinal, ifVersion, uniqueKey) ? undefined : versionMoved(at)
    }
    case 'bump':
      draft.generation += 1
      return undefined
    case 'log':
      draft.log.bundles.push(change.bundle)
      return undefined
    case 'entry':
      draft.log.entries.push(change.entry)
      return undefined
    case 'derived':
      draft.log.derived.set(keyOf(change.derived.derived), change.derived)
      return undefined
    case 'requireDerived':
      return isDerivedAs(draft, change.required) ? undefined : versionMoved(at)
    case 'prune':
      draft.log.pruneBelow = Math.max(draft.log.pruneBelow, change.below)
  }
}

/** Adds the effects of an accepted set to its group. */
function joinGroup(draft: SetDraft): void {
  const { group, rowChanges, resealed, holdings, nextOrdinal, generation, log } = draft
  group.onAccepted(rowChanges)
  for (const [ordinal, { to }] of rowChanges) group.rows.set(ordinal, to)
  for (const [ordinal, row] of resealed) group.rows.set(ordinal, row)
  for (const [key, holding] of holdings) group.holdings.set(key, holding)
  group.nextOrdinal = nextOrdinal
  group.generation = generation
  group.log.bundles.push(...log.bundles)
  group.log.entries.push(...log.entries)
  for (const [key, derived] of log.derived) group.log.derived.set(key, derived)
  group.log.pruneBelow = Math.max(group.log.pruneBelow, log.pruneBelow)
}

function decideSet(group: GroupDraft, changes: readonly PreparedChange[]): WriteOutcome {
  const draft = makeSetDraft(group)
  for (const [at, change] of changes.entries()) {
    const refused = applyChange(draft, change, at)
    if (refused) return refused
  }
  joinGroup(draft)
  return { ok: true, ordinals: draft.ordinals }
}

/**
 * Decides one set; a fault, such as a damaged row, stays with this set and harms no other.
 * @param faultOf converts an error that the engine throws
 */
export function applySet(
  group: GroupDraft,
  changes: readonly PreparedChange[],
  faultOf: (error: unknown) => ApiError,
): SetResult {
  try {
    return { outcome: decideSet(group, changes) }
  } catch (error) {
    return { fault: faultOf(error) }
  }
}
