/**
 * State that a process keeps of its own commits, against a reader that has seen none of them.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import type { Change } from '../../src/store/contract.ts'
import { prepareChanges } from '../../src/store/core/prepare-change.ts'
import { openEnvironment } from '../../src/store/lmdb/environment.ts'
import { makeSumKeeper } from '../../src/store/lmdb/kept-sum.ts'
import { makeMeta, type StoreState } from '../../src/store/lmdb/store-state.ts'
import { noChunkCounts, placeSetOf } from '../../src/store/lmdb/index/postings.ts'
import {
  termsOfPrefix,
  uniquesOfPrefix,
  type TailSegment,
} from '../../src/store/lmdb/index/segment.ts'
import { followStore, withIndex, type IndexedEnvironment } from '../../src/store/lmdb/index/tail.ts'
import { commit } from '../../src/store/lmdb/write/lmdb-commit.ts'
import { foldSizes, type FoldSizes } from '../../src/store/lmdb/write/lmdb-fold.ts'
import { writeGroup } from '../../src/store/lmdb/write/write-group.ts'
import { digestPrefixes } from '../../src/store/core/limits.ts'
import { eachPlace } from '../../src/store/core/place-set.ts'
import { temporaryFolder } from '../support/folders.ts'
import { insertOf, replaceOf } from './rows.ts'

const prefixes = Array.from({ length: digestPrefixes }, (_, prefix) => prefix)

/** All that leads to rows, and the version of each. */
const heldIn = (segment: TailSegment) => ({
  rows: [...segment.rows.keys()].sort((a, b) => a - b),
  uniques: prefixes.flatMap(prefix => uniquesOfPrefix(segment, prefix)),
  terms: prefixes
    .flatMap(prefix => termsOfPrefix(segment, prefix))
    .map(({ places, ...led }) => ({ ...led, places: [...eachPlace(placeSetOf(places))] })),
  digests: segment.digests,
})

const tailOf = ({ tail: { state, isDamaged, folding, fresh } }: IndexedEnvironment) => ({
  state,
  isDamaged,
  folding: heldIn(folding),
  fresh: heldIn(fresh),
})

/** Reads as a process that has the same file open, and nothing in memory. */
function readAnew(environment: IndexedEnvironment) {
  environment.root.resetReadTxn()
  const reader = withIndex(environment)
  followStore(reader)
  return tailOf(reader)
}

function openStore(fold: FoldSizes = foldSizes) {
  const environment = withIndex(openEnvironment(temporaryFolder()))
  makeMeta(environment, 1)
  const write = async (...sets: (readonly Change[])[]) => {
    const options = { roomBytes: Infinity, fold, sums: makeSumKeeper(environment) }
    const { results, follow, state } = await commit(environment, () =>
      writeGroup(environment, noChunkCounts, sets.map(prepareChanges), options),
    )
    for (const result of results) expect(result).toMatchObject({ outcome: { ok: true } })
    if (follow === undefined || state === undefined) throw new Error('the store cannot be read')
    return { follow, state }
  }
  return { environment, write }
}

describe('the state that a process keeps of its own commit', () => {
  test('is what a reader finds, through all steps of folds', async () => {
    const { environment, write } = openStore({ rows: 6, puts: 1, putsPerDigest: 0 })
    const seen = new Set<string>()
    for (let i = 0; i < 40; i += 1) {
      const two = [2 * i, 2 * i + 1].map(n =>
        insertOf({ uniques: [n, n + 500], terms: [7, n % 5] }),
      )
      const { follow, state } = await write(two, [insertOf({ uniques: [1_000 + i], terms: [8] })])
      follow()
      expect(tailOf(environment)).toEqual(readAnew(environment))
      expect(environment.tail).toMatchObject({ state, isDamaged: false })
      seen.add(`${state.foldedTo > 1} ${state.foldingTo > state.foldedTo}`)
    }
    expect([...seen].sort()).toEqual(['false false', 'false true', 'true false', 'true true'])
    await environment.root.close()
  })

  test('is a row whose unique a row of the index has given up', async () => {
    const { environment, write } = openStore({ rows: 1, puts: 1_000, putsPerDigest: 0 })
    await write([insertOf({ uniques: [1, 2] })])
    let folded: StoreState
    do ({ state: folded } = await write([]))
    while (folded.foldedTo < folded.nextOrdinal || folded.movesFrom < folded.movesOfFold)
    followStore(environment)
    const giving = replaceOf(1, { uniques: [1], version: 2 })
    const { follow } = await write([giving, insertOf({ uniques: [2, 3] })])
    follow()
    const kept = tailOf(environment)
    expect(kept.fresh.rows).toEqual([2])
    expect(kept).toEqual(readAnew(environment))
    await environment.root.close()
  })

  test('is nothing of a group that moves rows: the next reader takes these', async () => {
    const { environment, write } = openStore()
    ;(await write([insertOf({ uniques: [1], terms: [7] })])).follow()
    const groups: (readonly Change[])[] = [
      [replaceOf(1, { uniques: [1], terms: [8], version: 2 }), insertOf({ uniques: [2] })],
      [insertOf({ uniques: [3], terms: [9] }), { remove: 2 }],
    ]
    for (const group of groups) {
      const before = tailOf(environment)
      ;(await write(group)).follow()
      expect(tailOf(environment)).toEqual(before)
      environment.root.resetReadTxn()
      followStore(environment)
      expect(tailOf(environment)).toEqual(readAnew(environment))
    }
    await environment.root.close()
  })

  test('is taken once, though it was read before, or others have written since', async () => {
    const { environment, write } = openStore()
    const first = await write([insertOf({ uniques: [1], terms: [7] })])
    followStore(environment)
    const second = await write([insertOf({ uniques: [2], terms: [7] })])
    environment.root.resetReadTxn()
    followStore(environment)
    for (const { follow } of [first, second, second]) follow()
    expect(tailOf(environment)).toEqual(readAnew(environment))
    const third = await write([insertOf({ uniques: [3] })])
    const other = withIndex(environment)
    const options = { roomBytes: Infinity, fold: foldSizes, sums: makeSumKeeper(other) }
    const more = prepareChanges([{ remove: 3 }, insertOf({ uniques: [3] })])
    await commit(environment, () => writeGroup(other, noChunkCounts, [more], options))
    third.follow()
    expect(environment.tail.state).toEqual(third.state)
    followStore(environment)
    expect(tailOf(environment)).toEqual(readAnew(environment))
    await environment.root.close()
  })
})
