/**
 * Any writes and questions, as a model of plain Maps and Sets answers them: every engine runs it.
 * @module
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Change, Query, Store, PageWindow, WriteOutcome } from '../../src/store/contract.ts'
import type { OperatedStore } from '../../src/store/operated.ts'
import { dueModel, emptyModel, pageModel, writeModel, type Model } from './model.ts'
import { cases } from '../support/thorough.ts'
import { expectSum, sumSealer } from './sums.ts'
import { insertOf, numberOf, rowOf, termOf, uniqueOf } from './rows.ts'

// A few of each, so that everything meets everything; and a border of chunks in the middle.
const uniqueCount = 8
const termCount = 4
const instantMax = 5
export const firstOrdinal = 65_536 - 4

const numbers = (max: number, length: { minLength?: number; maxLength: number }) =>
  fc.uniqueArray(fc.nat({ max: max - 1 }), length)

const sketches = fc.record({
  uniques: numbers(uniqueCount, { minLength: 1, maxLength: 3 }),
  terms: numbers(termCount, { maxLength: termCount }),
  deadlineMs: fc.option(fc.nat({ max: instantMax }), { nil: undefined }),
})

const steps = fc.record({
  kind: fc.constantFrom('insert', 'insert', 'replace', 'remove', 'reseal', 'require', 'bump'),
  /** Row to change, counted back from the newest before the batch; one too far is absent. */
  pick: fc.nat({ max: 6 }),
  isStale: fc.boolean(),
  isChecked: fc.boolean(),
  sketch: sketches,
})

type Step = typeof steps extends fc.Arbitrary<infer Each> ? Each : never

/** A replace keeps the first unique of the row as it stands; the version may be a wrong one. */
function changeOf(model: Model, step: Step): Change {
  const { kind, pick, isStale, isChecked, sketch } = step
  const { deadlineMs, ...rest } = sketch
  const whole = deadlineMs === undefined ? rest : { ...rest, deadlineMs }
  const ordinal = [...model.rows.keys()].sort((a, b) => b - a)[pick] ?? firstOrdinal - 1
  const row = model.rows.get(ordinal)
  const ifVersion = (row?.version ?? 1) + (isStale ? 1 : 0)
  if (kind === 'insert') return insertOf(whole)
  if (kind === 'bump') return { bumpGeneration: true }
  if (kind === 'require') return { require: ordinal, ifVersion }
  if (kind === 'remove') return isChecked ? { remove: ordinal, ifVersion } : { remove: ordinal }
  // Its parts tell it from before.
  if (kind === 'reseal' && row !== undefined && !isStale) {
    return { reseal: { ...row, parts: [Uint8Array.of(pick, 9)] }, ordinal }
  }
  const name = row?.uniques[0] === undefined ? 0 : numberOf(row.uniques[0])
  const uniques = [name, ...sketch.uniques.filter(unique => unique !== name)]
  const version = ifVersion + 1
  return { replace: rowOf({ ...whole, uniques, version }), ordinal, ifVersion }
}

/** Ordinals of rows that may be there, newest first. */
const ordinalLists = fc
  .uniqueArray(fc.integer({ min: firstOrdinal - 2, max: firstOrdinal + 12 }))
  .map(ordinals => ordinals.toSorted((a, b) => b - a))

const { query: queries } = fc.letrec<{ query: Query }>(tie => ({
  query: fc.oneof(
    // The first alternative ends the nesting at its bound: it must be a leaf.
    { maxDepth: 3 },
    fc.nat({ max: termCount }).map(number => ({ term: termOf(number) })),
    fc.nat({ max: uniqueCount }).map(number => ({ unique: uniqueOf(number) })),
    fc
      .tuple(tie('query'), tie('query'), ordinalLists)
      .map(([bound, part, ordinals]) => ({ all: [{ any: [part, { ordinals }] }, bound] })),
    fc.record({ from: tie('query'), except: ordinalLists.map(ordinals => ({ ordinals })) }),
    fc.array(tie('query'), { minLength: 1, maxLength: 3 }).map(all => ({ all })),
    fc.array(tie('query'), { maxLength: 3 }).map(any => ({ any })),
    fc.record({ from: tie('query'), except: tie('query') }),
  ),
}))

const windows: fc.Arbitrary<PageWindow> = fc.record(
  {
    offset: fc.nat({ max: 4 }),
    limit: fc.nat({ max: 4 }),
    before: fc.integer({ min: firstOrdinal - 1, max: firstOrdinal + 12 }),
    nowMs: fc.integer({ min: -1, max: instantMax }),
    uncounted: fc.constant(true as const),
  },
  { requiredKeys: ['offset', 'limit', 'nowMs'] },
)

const batches = fc.record({
  sets: fc.array(fc.array(steps, { maxLength: 4 }), { minLength: 1, maxLength: 5 }),
  asked: fc.array(fc.tuple(queries, windows), { maxLength: 4 }),
  isReopened: fc.boolean(),
})

const ordinalOf = (change: Change): number | undefined => {
  if ('remove' in change) return change.remove
  return 'ordinal' in change ? change.ordinal : undefined
}

/** No set may move a row and reseal it. */
const withoutClash = (changes: readonly Change[]): readonly Change[] =>
  changes.filter(
    change =>
      !('reseal' in change) ||
      changes.every(
        other => other === change || 'reseal' in other || ordinalOf(other) !== change.ordinal,
      ),
  )

/** The row that holds a unique is of the refused write itself, so that it has no ordinal. */
function withoutUnborn({ rows }: Model, outcome: WriteOutcome | undefined) {
  if (outcome === undefined || outcome.ok || outcome.reason !== 'unique_taken') return outcome
  return rows.has(outcome.ordinal) ? outcome : { ...outcome, ordinal: 'unborn' }
}

/** All sets of a batch wait for one transaction together; the model takes them one by one. */
async function runBatch(store: Store, model: Model, sets: readonly Step[][]): Promise<Model> {
  const changes = sets.map(set => withoutClash(set.map(step => changeOf(model, step))))
  const outcomes = await Promise.all(changes.map(set => store.write(set)))
  let next = model
  for (const [i, set] of changes.entries()) {
    const [after, outcome] = writeModel(next, set, outcomes[i])
    expect(withoutUnborn(next, outcomes[i])).toEqual(withoutUnborn(next, outcome))
    next = after
  }
  return next
}

const everyRow: PageWindow = { offset: 0, limit: 2, nowMs: 0 }
/** Asked after each batch: no earlier count may be told after it. */
const standing: readonly Query[] = [
  ...Array.from({ length: termCount }, (_, number) => ({ term: termOf(number) })),
  { all: [{ term: termOf(0) }, { any: [{ term: termOf(1) }, { term: termOf(2) }] }] },
  { from: { term: termOf(1) }, except: { term: termOf(3) } },
]

async function expectAgreement(store: OperatedStore, model: Model): Promise<void> {
  expect(await store.integrity()).toEqual([])
  expect(await store.generation()).toBe(model.generation)
  // A store begins its sum with its first row.
  if (model.nextOrdinal > firstOrdinal) await expectSum(store)
  const held = new Map<number, number>()
  for (const [ordinal, row] of model.rows) {
    for (const unique of row.uniques) held.set(numberOf(unique), ordinal)
  }
  for (let unique = 0; unique < uniqueCount; unique += 1) {
    expect((await store.find(uniqueOf(unique)))?.ordinal).toEqual(held.get(unique))
  }
  const due = await store.due(instantMax, 100)
  expect(due.map(({ ordinal }) => ordinal)).toEqual(dueModel(model, instantMax))
}

/** A store that is opened again and again at one place. */
export interface ModelSubject {
  readonly open: () => Promise<OperatedStore>
}

/**
 * @param begin  makes a place for a new store, by the `given` value of a run
 * @param given  of a run, such as how often rows are folded
 */
export function testModel<Given>(
  name: string,
  given: fc.Arbitrary<Given>,
  begin: (given: Given) => Promise<ModelSubject>,
  numRuns: number,
): void {
  test(`${name} answers any writes and questions as plain Maps and Sets do`, async () => {
    const runs = fc.array(batches, { maxLength: 9 })
    const property = fc.asyncProperty(runs, given, async (run, each) => {
      const { open: openPlain } = await begin(each)
      const open = async (): Promise<OperatedStore> => {
        const opened = await openPlain()
        opened.keepSum(sumSealer)
        return opened
      }
      let store = await open()
      let model = emptyModel(firstOrdinal)
      for (const { sets, asked, isReopened } of run) {
        if (isReopened) {
          await store.close()
          store = await open()
        }
        model = await runBatch(store, model, sets)
        const again = standing.map(query => [query, everyRow] as const)
        for (const [query, window] of [...asked, ...again]) {
          expect(await store.page(query, window)).toEqual(pageModel(model, query, window))
        }
        await expectAgreement(store, model)
      }
      await store.close()
      const again = await open()
      await expectAgreement(again, model)
      await again.close()
    })
    await fc.assert(property, { numRuns: cases(numRuns) })
  }, 300_000)
}
