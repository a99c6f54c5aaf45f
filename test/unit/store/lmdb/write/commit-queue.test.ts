import { describe, expect, jest, test } from 'bun:test'
import type { WriteOutcome } from '../../../../../src/store/contract.ts'
import { ApiError } from '../../../../../src/lib/errors.ts'
import {
  makeCommitQueue,
  type CommitGroup,
} from '../../../../../src/store/lmdb/write/lmdb-commit.ts'
import { commitMsMax, groupCommitBytesMax } from '../../../../../src/store/core/limits.ts'
import type { ChangeSet } from '../../../../../src/store/core/write-queue.ts'
import type { SetResult } from '../../../../../src/store/core/decide-change.ts'
import { expectFault } from '../../../../store/rows.ts'

/** Makes a set of that many changes; the ordinal of a removal stands for its name. */
const setOf = (name: number, count = 1): ChangeSet =>
  Array.from({ length: count }, () => ({
    kind: 'remove',
    ordinal: name,
    ifVersion: undefined,
    uniqueKey: undefined,
  }))

const nameOf = (set: ChangeSet): number => {
  const [first] = set
  return first?.kind === 'remove' ? first.ordinal : -1
}

const accepted = (name: number): WriteOutcome => ({ ok: true, ordinals: [name] })
const resultOf = (set: ChangeSet): SetResult => ({ outcome: accepted(nameOf(set)) })

interface FakeEngine {
  readonly commitGroup: CommitGroup
  /** Names of the sets of each transaction so far. */
  readonly groups: number[][]
  /** Lets the transaction that runs commit, or fail. */
  settle(error?: Error): Promise<void>
}

/** Transactions that begin one turn after they were asked for, and end when the test says. */
function makeFakeEngine(results: (set: ChangeSet) => SetResult = resultOf): FakeEngine {
  const groups: number[][] = []
  let end: (error?: Error) => void = () => {}
  return {
    groups,
    async commitGroup(take) {
      await Bun.sleep(0)
      const sets = take()
      groups.push(sets.map(nameOf))
      await new Promise<void>((resolve, reject) => {
        end = error => (error === undefined ? resolve() : reject(error))
      })
      return sets.map(results)
    },
    async settle(error) {
      await Bun.sleep(2)
      end(error)
      await Bun.sleep(0)
    },
  }
}

describe('the commit queue', () => {
  test('takes along what comes until its transaction begins, and no more', async () => {
    const engine = makeFakeEngine()
    const queue = makeCommitQueue(engine.commitGroup)
    const first = [queue.submit(setOf(1)), queue.submit(setOf(2))]
    await Bun.sleep(2)
    const second = [queue.submit(setOf(3)), queue.submit(setOf(4))]
    await engine.settle()
    expect(await Promise.all(first)).toEqual([accepted(1), accepted(2)])
    await engine.settle()
    expect(await Promise.all(second)).toEqual([accepted(3), accepted(4)])
    expect(engine.groups).toEqual([
      [1, 2],
      [3, 4],
    ])
  })

  test('answers nobody before the transaction is committed', async () => {
    const engine = makeFakeEngine()
    const queue = makeCommitQueue(engine.commitGroup)
    let isAnswered = false
    const answer = queue.submit(setOf(1)).then(() => (isAnswered = true))
    await Bun.sleep(5)
    expect(engine.groups).toEqual([[1]])
    expect(isAnswered).toBe(false)
    await engine.settle()
    await answer
  })

  test('holds a transaction to its bound, but takes a set of any size alone', async () => {
    const engine = makeFakeEngine()
    const queue = makeCommitQueue(engine.commitGroup)
    const sizes = [600, 400, 1, 1_000, 2_000, 1]
    const answers = sizes.map((size, name) => queue.submit(setOf(name, size)))
    for (let i = 0; i < 5; i += 1) await engine.settle()
    await Promise.all(answers)
    expect(engine.groups).toEqual([[0, 1], [2], [3], [4], [5]])
  })

  test('holds the rows of a transaction to their bytes, but takes any row alone', async () => {
    const rowOf = (bytes: number): ChangeSet => {
      const row = { uniques: [new Uint8Array(32)], terms: [], version: 1, parts: [] }
      const keyed = { row, uniqueKeys: [], termKeys: [], value: new Uint8Array(bytes) }
      return [...setOf(bytes), { kind: 'insert', row: keyed }]
    }
    const engine = makeFakeEngine()
    const queue = makeCommitQueue(engine.commitGroup)
    const sizes = [1, groupCommitBytesMax - 1, 2, 3 * groupCommitBytesMax, 3]
    const answers = sizes.map(bytes => queue.submit(rowOf(bytes)))
    for (let i = 0; i < 4; i += 1) await engine.settle()
    await Promise.all(answers)
    const [one, most, two, huge, three] = sizes
    expect(engine.groups.flat()).toEqual(sizes)
    expect<unknown>(engine.groups).toEqual([[one, most], [two], [huge], [three]])
  })

  test('gives a fault to the set that has it, and to no other', async () => {
    const fault = new ApiError('storage_corrupt', 'damaged')
    const engine = makeFakeEngine(set => (nameOf(set) === 1 ? { fault } : resultOf(set)))
    const queue = makeCommitQueue(engine.commitGroup)
    const bad = expectFault(queue.submit(setOf(1)), 'storage_corrupt')
    const good = queue.submit(setOf(2))
    await engine.settle()
    await bad
    expect(await good).toEqual(accepted(2))
    expect(queue.isHalted()).toBe(false)
  })

  test('closes when all that was taken is answered', async () => {
    const engine = makeFakeEngine()
    const queue = makeCommitQueue(engine.commitGroup)
    const answer = queue.submit(setOf(1))
    let isClosed = false
    const closed = queue.close().then(() => (isClosed = true))
    await expectFault(queue.submit(setOf(2)), 'unavailable')
    expect(isClosed).toBe(false)
    await engine.settle()
    await closed
    expect(await answer).toEqual(accepted(1))
  })
})

describe('the commit queue after a failed commit', () => {
  const tellLater = async (): Promise<never> => {
    await Bun.sleep(10)
    throw new Error('disk')
  }

  test('refuses its group, all who wait, and all who come, with the cause', async () => {
    const engine = makeFakeEngine()
    const queue = makeCommitQueue(engine.commitGroup)
    const inGroup = expectFault(queue.submit(setOf(1)), 'unavailable')
    await Bun.sleep(2)
    const waiting = expectFault(queue.submit(setOf(2)), 'unavailable')
    const error = new Error('no commit')
    await engine.settle(error)
    expect((await inGroup).cause).toBe(error)
    expect((await waiting).cause).toBe(error)
    await expectFault(queue.submit(setOf(3)), 'unavailable')
    expect(queue.isHalted()).toBe(true)
    expect(engine.groups).toEqual([[1]])
    await queue.close()
  })

  test.each([
    ['tells the cause that the engine tells later', tellLater, 'disk'],
    [
      'goes on when the engine never tells the cause',
      () => new Promise<never>(() => {}),
      'no commit',
    ],
  ])('%s', async (_, tell, message) => {
    const engine = makeFakeEngine()
    const queue = makeCommitQueue(engine.commitGroup)
    const answer = expectFault(queue.submit(setOf(1)), 'unavailable')
    const commitError = tell()
    // A slow machine may be told before the queue listens.
    commitError.catch(() => undefined)
    await engine.settle(Object.assign(new Error('no commit'), { commitError }))
    expect((await answer).cause).toMatchObject({ message })
  })

  test('gives the same sets to another try, and none once they were answered', async () => {
    const groups: number[][] = []
    let takeLater = (): unknown => undefined
    const queue = makeCommitQueue(async take => {
      await Bun.sleep(0)
      groups.push(take().map(nameOf))
      queue.submit(setOf(2)).catch(() => {})
      groups.push(take().map(nameOf))
      takeLater = take
      throw new Error('no commit')
    })
    await expectFault(queue.submit(setOf(1)), 'unavailable')
    expect(groups).toEqual([[1], [1]])
    expect(takeLater).toThrow()
  })

  test('tells of its first failed commit once, with the cause', async () => {
    const engine = makeFakeEngine()
    const told: unknown[] = []
    const queue = makeCommitQueue(engine.commitGroup, cause => told.push(cause))
    const failure = new Error('the disk said no')
    const writes = [1, 2].map(name => expectFault(queue.submit(setOf(name)), 'unavailable'))
    await engine.settle(failure)
    await Promise.all(writes)
    await expectFault(queue.submit(setOf(3)), 'unavailable')
    expect(told).toEqual([failure])
  })
})

describe('the commit queue whose commit does not end', () => {
  async function settle(): Promise<void> {
    for (let turns = 0; turns < 50; turns += 1) await Promise.resolve()
  }

  /** Returns how many milliseconds after the write it gives up. */
  async function findEnd(commitGroup: CommitGroup, processes?: number): Promise<number> {
    jest.useFakeTimers()
    try {
      const queue = makeCommitQueue(commitGroup, () => {}, processes)
      queue.submit(setOf(1)).catch(() => {})
      let passedMs = 0
      for (; !queue.isHalted(); passedMs += commitMsMax / 2) {
        await settle()
        jest.advanceTimersByTime(commitMsMax / 2)
        await settle()
      }
      return passedMs
    } finally {
      jest.useRealTimers()
    }
  }

  const hang: CommitGroup = () => new Promise(() => {})
  const hangWithin: CommitGroup = take => {
    take()
    return new Promise(() => {})
  }

  test('has that bound for each transaction that goes before it', async () => {
    const steps = 6
    const goOnFor: CommitGroup = (_, goOn) => {
      let left = steps
      const timer = setInterval(() => {
        goOn()
        left -= 1
        if (left === 0) clearInterval(timer)
      }, commitMsMax / 2)
      return new Promise(() => {})
    }
    expect(await findEnd(goOnFor)).toBeGreaterThan((steps / 2) * commitMsMax)
  })

  test.each([undefined, 1])('alone, %p, gives up after its own bound', async processes => {
    expect(await findEnd(hang, processes)).toBe(commitMsMax)
  })

  test.each([2, 3, 8])('among %d processes waits for each of them first', async processes => {
    expect(await findEnd(hang, processes)).toBe((processes + 1) * commitMsMax)
    expect(await findEnd(hangWithin, processes)).toBe(commitMsMax)
  })
})
