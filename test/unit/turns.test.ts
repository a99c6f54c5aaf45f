/**
 * Turns of long work: one piece at a time, and short requests in between.
 * @module
 */
import { expect, test } from 'bun:test'
import {
  loopPiecesMax,
  loopWorkMsMax,
  restMsMax,
  restPerTurn,
} from '../../src/limits/work-limits.ts'
import { makeScheduler } from '../../src/lib/work.ts'

const caller = (ordinal: number) => ({
  tenantId: 'shop',
  applicationId: 'page',
  credential: { ordinal },
})

// proves E1.7
test('works that ask at once have their pieces one by one, each in its own round', async () => {
  const turns = makeScheduler(() => 0)
  let round = 0
  const countRound = () => {
    round += 1
    timer = setImmediate(countRound)
  }
  let timer = setImmediate(countRound)
  const pieces: { work: number; round: number }[] = []
  const work = async (number: number) => {
    for (let piece = 0; piece < 3; piece += 1) {
      await turns.next(caller(number))
      pieces.push({ work: number, round })
    }
  }
  await Promise.all([work(1), work(2), work(3)])
  clearImmediate(timer)
  expect(pieces.map(piece => piece.work)).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3])
  expect(new Set(pieces.map(piece => piece.round)).size).toBe(pieces.length)
})

// proves C16.7, E10.12
test('a caller who brings many works has one piece for each of the others', async () => {
  const turns = makeScheduler(() => 0)
  const order: number[] = []
  const piece = (credential: number) =>
    turns.next(caller(credential)).then(() => order.push(credential))
  const all = [1, 1, 1, 1, 1, 1, 2, 3, 2].map(piece)
  await Promise.all(all)
  expect(order).toEqual([1, 1, 2, 3, 1, 2, 1, 1, 1])
})

/** Returns the step after a piece that took `ms`: the next one, or a timer of half its rest. */
async function firstAfterPiece(ms: number, isRequested: boolean): Promise<'piece' | 'timer'> {
  let nowMs = 0
  const turns = makeScheduler(() => nowMs)
  const order: ('piece' | 'timer')[] = []
  await turns.next(caller(1))
  nowMs += ms
  if (isRequested) turns.noteRequest()
  const restMs = Math.min(ms * restPerTurn, restMsMax)
  const timer = Bun.sleep(restMs / 2).then(() => order.push('timer'))
  await turns.next(caller(1))
  order.push('piece')
  await timer
  return order[0] ?? 'timer'
}

// proves E1.7
test('where a request came, the next piece comes later, the longer the last one took', async () => {
  expect(await firstAfterPiece(4, true)).toBe('timer')
  expect(await firstAfterPiece(1_000, true)).toBe('timer')
})

test('where none came, the next piece comes at once', async () => {
  expect(await firstAfterPiece(1_000, false)).toBe('piece')
})

test('a credential waits while some of its work has not begun, and others do not', async () => {
  const turns = makeScheduler(() => 0)
  const [, second] = [turns.next(caller(1)), turns.next(caller(1))]
  expect([turns.isWaiting(caller(1)), turns.isWaiting(caller(2))]).toEqual([true, false])
  await second
  expect(turns.isWaiting(caller(1))).toBe(false)
})

// proves E10.31
test('pieces of milliseconds begin until they take too long, then few in each round', async () => {
  let nowMs = 0
  const turns = makeScheduler(() => nowMs)
  expect([turns.soon(caller(1)), turns.soon(caller(1))]).toEqual([undefined, undefined])
  nowMs += loopWorkMsMax
  const begun: number[] = []
  const waiting = [1, 1, 1, 1, 1, 1, 2].map(credential =>
    turns.soon(caller(credential))?.then(() => begun.push(credential)),
  )
  expect(waiting).not.toContain(undefined)
  await Promise.resolve()
  expect(begun).toEqual([])
  await new Promise(setImmediate)
  expect(begun).toEqual([1, 2, 1, 1].slice(0, loopPiecesMax))
  // A credential stays behind what it has waiting, and others go on.
  expect([turns.soon(caller(1)) === undefined, turns.soon(caller(2))]).toEqual([false, undefined])
  await Promise.all(waiting)
  expect(begun).toHaveLength(waiting.length)
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  expect(turns.soon(caller(1))).toBeUndefined()
})
