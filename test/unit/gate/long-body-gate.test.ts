/**
 * Long bodies wait for one another, and callers have turns.
 * @module
 */
import { expect, test } from 'bun:test'
import { makeLongBodyGate } from '../../../src/http/budgets.ts'
import type { CallerOfTurns } from '../../../src/lib/turn-queue.ts'
import { turnOwner } from '../../support/turn-owner.ts'
import { longBodiesPerCredentialMax, shortBodyBytesMax } from '../../../src/limits/limits.ts'

const long = shortBodyBytesMax + 1

interface Body {
  readonly of: CallerOfTurns
  readonly bytes: number
}

/** Bodies that ask to enter in that order, and those that have, by their number. */
function crowd(bodies: readonly Body[], bytesMax: number, spareBytes = 0) {
  const gate = makeLongBodyGate(bytesMax, spareBytes)
  const entered: number[] = []
  const ask = ({ of, bytes }: Body, number: number) =>
    void Promise.resolve(gate.enter(of, bytes)).then(() => entered.push(number))
  bodies.forEach(ask)
  const leave = async (number: number) => {
    const body = bodies[number]
    if (body !== undefined) gate.leave(body.of, body.bytes)
    await Bun.sleep(0)
  }
  return { entered, leave, settled: () => Bun.sleep(0) }
}

const of = (application: number, bytes = long): Body => ({ of: turnOwner(application), bytes })

// proves E10.9
test('bodies of several credentials enter in their order, while there is room', async () => {
  const { entered, leave, settled } = crowd([of(1), of(2), of(3), of(4)], 2 * long)
  await settled()
  expect(entered).toEqual([0, 1])
  await leave(0)
  expect(entered).toEqual([0, 1, 2])
  await leave(1)
  expect(entered).toEqual([0, 1, 2, 3])
})

// proves E10.9
test('one that is longer than the room enters alone, and none goes before it', async () => {
  const { entered, leave, settled } = crowd([of(1), of(2, 9 * long), of(3)], 2 * long)
  await settled()
  expect(entered).toEqual([0])
  await leave(0)
  expect(entered).toEqual([0, 1])
  await leave(1)
  expect(entered).toEqual([0, 1, 2])
})

// proves C16.7, E10.12
test('a caller who brings many has one inside while others wait, and these pass', async () => {
  const many = Array.from({ length: 15 }, () => of(1))
  const { entered, leave, settled } = crowd([...many, of(2), of(2), of(3)], 2 * long)
  await settled()
  expect(entered).toEqual([0, 1])
  await leave(0)
  // There is room for one more, and it is not of those who have one inside.
  expect(entered).toEqual([0, 1, 15])
  await leave(1)
  expect(entered).toEqual([0, 1, 15, 2])
  await leave(15)
  expect(entered).toEqual([0, 1, 15, 2, 17])
  await leave(2)
  expect(entered).toEqual([0, 1, 15, 2, 17, 16])
})

// proves E10.9
test('alone it has few, whatever room there is', async () => {
  const { entered, settled } = crowd([of(1), of(1), of(1), of(1)], 100 * long)
  await settled()
  expect(entered).toHaveLength(longBodiesPerCredentialMax)
})

// proves E10.12
test('a part of the room is for those that have none inside', async () => {
  const { entered, settled } = crowd([of(1, 4 * long), of(1), of(2), of(3)], 4 * long, long)
  await settled()
  expect(entered).toEqual([0, 2])
})

// proves E10.9
test('short ones never wait, and take no room', async () => {
  const bodies = [of(1), of(2), of(3, shortBodyBytesMax)]
  const { entered, leave, settled } = crowd(bodies, long)
  await settled()
  expect(entered.toSorted()).toEqual([0, 2])
  await leave(2)
  expect(entered.toSorted()).toEqual([0, 2])
  await leave(0)
  expect(entered.toSorted()).toEqual([0, 1, 2])
})

// proves C16.7, E10.12
test('those of many sessions take none of that part, and the turns of one', async () => {
  const sessions = Array.from({ length: 20 }, (_, i) => ({
    of: turnOwner(1, 'tenant', i),
    bytes: long,
  }))
  const other = { of: turnOwner(2, 'other'), bytes: long }
  const { entered, leave, settled } = crowd([...sessions, other, other], 2 * long, long)
  await settled()
  expect(entered).toEqual([0, 1, 20])
  await leave(20)
  expect(entered).toEqual([0, 1, 20, 21])
  await leave(0)
  await leave(1)
  expect(entered).toEqual([0, 1, 20, 21, 2])
})
