/**
 * One transaction: decide all change sets of a group, then put what is left of them.
 *
 * @module
 */
import { applySet, type SetResult } from './apply-changes.ts'
import { chunkOf } from '../index/chunk-key.ts'
import type { ChunkCounts } from '../index/chunk-counts.ts'
import { openGroupDraft, type GroupDraft } from './draft.ts'
import { stagedBytesMax } from '../../../limits.ts'
import type { Environment, Table } from '../environment.ts'
import { faultOf } from '../fault.ts'
import { faultOfRoom } from './free-space.ts'
import { metaEntries } from '../meta.ts'
import { chunkEntry, type PostingDraft } from '../index/posting-draft.ts'
import type { PreparedChange } from './prepare-changes.ts'
import { encodeRowKey } from '../rows/row-key.ts'
import { encodeUniqueEntry } from '../rows/unique-entry.ts'

/** One put, or the removal of a key. */
export interface Step {
  readonly table: Table
  readonly key: Uint8Array
  readonly value: Uint8Array | undefined
  /** The key comes after all that are there, and after those of the steps before. */
  readonly isLast?: boolean
}

/** New rows stand in the order of their ordinals, as they were given. */
const rowSteps = ({ rows, environment, meta }: GroupDraft): Step[] =>
  [...rows].map(([ordinal, row]) => ({
    table: environment.rows,
    key: encodeRowKey(ordinal),
    value: row?.value,
    isLast: ordinal >= meta.nextOrdinal,
  }))

/** Uniques of a row that was moved carry its new version; a holder is always a moved row. */
const uniqueSteps = ({ rows, holdings, environment }: GroupDraft): Step[] =>
  [...holdings.values()].map(({ unique, ordinal }) => {
    const version = ordinal === undefined ? undefined : rows.get(ordinal)?.row.version
    const isHeld = ordinal !== undefined && version !== undefined
    const value = isHeld ? encodeUniqueEntry({ ordinal, version }) : undefined
    return { table: environment.uniques, key: unique, value }
  })

const chunkSteps = ({ table, chunks }: PostingDraft): Step[] =>
  [...chunks.values()]
    .filter(({ places }) => places.size > 0)
    .map(chunk => ({ table, ...chunkEntry(chunk) }))

function metaSteps({ environment, meta, nextOrdinal, generation }: GroupDraft): Step[] {
  if (nextOrdinal === meta.nextOrdinal && generation === meta.generation) return []
  const entries = metaEntries({ nextOrdinal, generation })
  return entries.map(([key, value]) => ({ table: environment.meta, key, value }))
}

const stepsOf = (draft: GroupDraft): Step[] => [
  ...rowSteps(draft),
  ...uniqueSteps(draft),
  ...chunkSteps(draft.terms),
  ...chunkSteps(draft.deadlines),
  ...metaSteps(draft),
]

interface Decided {
  readonly results: readonly SetResult[]
  readonly steps: readonly Step[]
  /** In which rows move, so that any term or deadline of theirs may change. */
  readonly chunks: ReadonlySet<number>
}

/** A fault that belongs to no single set is the fault of all, and nothing is written. */
function decideGroup(
  environment: Environment,
  sets: readonly (readonly PreparedChange[])[],
  roomBytes: number,
): Decided {
  try {
    const draft = openGroupDraft(environment)
    const results = sets.map(set => {
      const fault = faultOfRoom(roomBytes, set)
      return fault === undefined ? applySet(draft, set) : { fault }
    })
    return { results, steps: stepsOf(draft), chunks: new Set([...draft.rows.keys()].map(chunkOf)) }
  } catch (error) {
    const fault = faultOf(error)
    return { results: sets.map(() => ({ fault })), steps: [], chunks: new Set() }
  }
}

/** Larger values are few, and go as they are. */
const staging = new Uint8Array(stagedBytesMax)

/**
 * The same bytes for a put, which copies them: the engine's binding looks up the address of each
 * buffer that it has not met, and that costs as much as the put.
 */
function staged(value: Uint8Array): Uint8Array {
  if (value.length > stagedBytesMax) return value
  staging.set(value)
  return new Uint8Array(staging.buffer, 0, value.length)
}

/**
 * The engine splits a full page so that its last entry moves along, unless it is told that the new
 * one comes after all: of rows, where six or seven fill a page, that would be one less in each.
 * Told so wrongly it puts nothing, and says false. `readMeta` has checked that it is not wrong, but
 * a row that was answered must not hang on that.
 */
export function takeStep({ table, key, value, isLast = false }: Step): void {
  if (value === undefined) {
    table.removeSync(key)
    return
  }
  const bytes = staged(value)
  const isPut: unknown = isLast && table.putSync(key, bytes, { append: true })
  if (isPut !== true) table.putSync(key, bytes)
}

/**
 * Runs within a transaction of the engine.
 * @param roomBytes that the store's file can grow by
 * @returns one result for each set, in their order
 * @throws only when the engine refuses a put: it then marks its transaction as broken, so that the
 *   commit fails as well
 */
export function writeGroup(
  environment: Environment,
  counts: ChunkCounts,
  sets: readonly (readonly PreparedChange[])[],
  roomBytes: number,
): readonly SetResult[] {
  const { results, steps, chunks } = decideGroup(environment, sets, roomBytes)
  counts.begin(chunks)
  for (const step of steps) takeStep(step)
  return results
}
