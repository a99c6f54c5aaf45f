/**
 * The slow twin of a store: plain Maps and Sets, every question answered by looking at every row.
 *
 * @module
 */
import { storedRow } from '../../src/store/core/row.ts'
import type {
  Change,
  NewRow,
  RowPage,
  Query,
  PageWindow,
  WriteOutcome,
} from '../../src/store/contract.ts'
import { numberOf } from './rows.ts'

export interface Model {
  readonly rows: ReadonlyMap<number, NewRow>
  readonly nextOrdinal: number
  readonly generation: number
}

export const emptyModel = (nextOrdinal: number): Model => ({
  rows: new Map(),
  nextOrdinal,
  generation: 0,
})

type Refused = Extract<WriteOutcome, { ok: false }>

class Refusal extends Error {
  readonly outcome: Refused

  constructor(outcome: Refused) {
    super(outcome.reason)
    this.outcome = outcome
  }
}

/** @param given the ordinal that the store gave to an inserted row */
function changeOne(model: Model, change: Change, at: number, given?: number): Model {
  const rows = new Map(model.rows)
  const put = (ordinal: number, row: NewRow): void => {
    for (const unique of row.uniques) {
      for (const [holder, { uniques }] of rows) {
        const isHeld = uniques.some(held => numberOf(held) === numberOf(unique))
        if (!isHeld || holder === ordinal) continue
        throw new Refusal({ ok: false, at, reason: 'unique_taken', unique, ordinal: holder })
      }
    }
    rows.set(ordinal, row)
  }
  const check = (ordinal: number, version: number): void => {
    if (rows.get(ordinal)?.version === version) return
    throw new Refusal({ ok: false, at, reason: 'version_moved' })
  }
  if ('insert' in change) {
    // They grow, perhaps with gaps.
    const ordinal = Math.max(model.nextOrdinal, given ?? 0)
    put(ordinal, change.insert)
    return { ...model, rows, nextOrdinal: ordinal + 1 }
  }
  if ('reseal' in change) {
    check(change.ordinal, change.reseal.version)
    rows.set(change.ordinal, change.reseal)
  } else if ('replace' in change) {
    check(change.ordinal, change.ifVersion)
    put(change.ordinal, change.replace)
  } else if ('remove' in change) {
    if (change.ifVersion !== undefined) check(change.remove, change.ifVersion)
    rows.delete(change.remove)
  } else if ('require' in change) {
    check(change.require, change.ifVersion)
  } else {
    return { ...model, generation: model.generation + 1 }
  }
  return { ...model, rows }
}

/** @param outcome of a store, whose ordinals count if they grow */
export function writeModel(
  model: Model,
  changes: readonly Change[],
  said?: WriteOutcome,
): [Model, WriteOutcome] {
  const ordinals: number[] = []
  let next = model
  try {
    for (const [at, change] of changes.entries()) {
      const given = said?.ok === true ? said.ordinals[ordinals.length] : undefined
      const after = changeOne(next, change, at, given)
      if ('insert' in change) ordinals.push(after.nextOrdinal - 1)
      if ('replace' in change) ordinals.push(change.ordinal)
      next = after
    }
  } catch (error) {
    if (error instanceof Refusal) return [model, error.outcome]
    throw error
  }
  return [next, { ok: true, ordinals }]
}

function matching(model: Model, query: Query): Set<number> {
  const holding = (numbersOf: (row: NewRow) => number[], wanted: number): Set<number> =>
    new Set([...model.rows].filter(([, row]) => numbersOf(row).includes(wanted)).map(([o]) => o))
  if ('term' in query) return holding(row => row.terms.map(numberOf), numberOf(query.term))
  if ('unique' in query) return holding(row => row.uniques.map(numberOf), numberOf(query.unique))
  if ('ordinals' in query) return new Set(query.ordinals.filter(ordinal => model.rows.has(ordinal)))
  if ('from' in query) return matching(model, query.from).difference(matching(model, query.except))
  if ('any' in query) {
    return query.any.reduce((sum, part) => sum.union(matching(model, part)), new Set<number>())
  }
  const sets = query.all.map(part => matching(model, part))
  return sets.reduce((both, set) => both.intersection(set))
}

export function pageModel(model: Model, query: Query, window: PageWindow): RowPage {
  const { offset, limit, before = Infinity, nowMs, uncounted = false } = window
  const rows = [...matching(model, query)]
    .sort((a, b) => b - a)
    .flatMap(ordinal => {
      const row = model.rows.get(ordinal)
      return row === undefined || (row.deadlineMs ?? Infinity) <= nowMs
        ? []
        : [storedRow(ordinal, row)]
    })
  const reachable = rows.filter(({ ordinal }) => ordinal < before)
  return { rows: reachable.slice(offset, offset + limit), total: uncounted ? 0 : rows.length }
}

export const dueModel = (model: Model, nowMs: number): number[] =>
  [...model.rows]
    .filter(([, row]) => (row.deadlineMs ?? Infinity) <= nowMs)
    .sort(([a, left], [b, right]) => (left.deadlineMs ?? 0) - (right.deadlineMs ?? 0) || a - b)
    .map(([ordinal]) => ordinal)
