/**
 * Long bodies take turns in being worked on.
 * @module
 */
import { expect, test } from 'bun:test'
import { openBodyGate } from '../../../src/http/body-gate.ts'
import { shortBodyBytesMax } from '../../../src/limits.ts'

const long = shortBodyBytesMax + 1

/** Bodies that ask to enter, and the numbers of those that have. */
function crowd(lengths: readonly number[], bytesMax: number) {
  const gate = openBodyGate(bytesMax)
  const entered: number[] = []
  lengths.forEach((bytes, index) => void gate.enter(bytes).then(() => entered.push(index)))
  return { gate, entered }
}

test('long bodies enter in their order, while there is room', async () => {
  const { gate, entered } = crowd([long, long, long, long], 2 * long)
  await Bun.sleep(0)
  expect(entered).toEqual([0, 1])
  gate.leave(long)
  await Bun.sleep(0)
  expect(entered).toEqual([0, 1, 2])
  gate.leave(long)
  gate.leave(long)
  await Bun.sleep(0)
  expect(entered).toEqual([0, 1, 2, 3])
})

test('one that is longer than the room enters alone, and none goes before it', async () => {
  const { gate, entered } = crowd([long, 9 * long, long], 2 * long)
  await Bun.sleep(0)
  expect(entered).toEqual([0])
  gate.leave(long)
  await Bun.sleep(0)
  expect(entered).toEqual([0, 1])
  gate.leave(9 * long)
  await Bun.sleep(0)
  expect(entered).toEqual([0, 1, 2])
})

test('short ones never wait, and take no room', async () => {
  const { gate, entered } = crowd([long, long, shortBodyBytesMax], long)
  await Bun.sleep(0)
  expect(entered.toSorted()).toEqual([0, 2])
  gate.leave(shortBodyBytesMax)
  await Bun.sleep(0)
  expect(entered.toSorted()).toEqual([0, 2])
  gate.leave(long)
  await Bun.sleep(0)
  expect(entered.toSorted()).toEqual([0, 1, 2])
})
