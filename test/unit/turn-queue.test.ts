/**
 * Turns of tenants, in each of their applications, and in each of these of their credentials.
 * @module
 */
import { expect, test } from 'bun:test'
import { makeTurnQueue } from '../../src/lib/turn-queue.ts'
import { makeScheduler } from '../../src/lib/work.ts'

const owner = (tenantId: string, applicationId: string, ordinal: number) => ({
  tenantId,
  applicationId,
  credential: { ordinal },
})

// proves C16.7
test('a tenant waits for one item of another, however many sessions that has', () => {
  const queue = makeTurnQueue<string>()
  for (let session = 1; session <= 50; session += 1) queue.add(owner('a', 'page', session), 'page')
  queue.add(owner('a', 'desk', 60), 'desk')
  queue.add(owner('b', 'desk', 70), 'other')
  queue.add(0, 'vault')
  const taken = Array.from({ length: 5 }, () => queue.take())
  expect(taken).toEqual(['page', 'other', 'vault', 'desk', 'page'])
})

test('items of one credential keep their order, and an empty queue has none', () => {
  const queue = makeTurnQueue<number>()
  const [one, two] = [owner('a', 'b', 1), owner('a', 'b', 2)]
  queue.add(one, 1)
  queue.add(one, 2)
  queue.add(two, 3)
  expect([queue.has(one), queue.has(owner('b', 'b', 1)), queue.has(-1)]).toEqual([
    true,
    false,
    false,
  ])
  expect([queue.take(), queue.take(), queue.has(two), queue.take()]).toEqual([1, 3, false, 2])
  expect([queue.take(), queue.has(one)]).toEqual([undefined, false])
})

test('an item that is not fit is passed over, and keeps its turn', () => {
  const queue = makeTurnQueue<number>()
  queue.add(owner('a', 'b', 1), 1)
  queue.add(owner('a', 'b', 1), 2)
  queue.add(owner('a', 'c', 2), 3)
  queue.add(owner('d', 'e', 3), 4)
  const isEven = (item: number): boolean => item % 2 === 0
  // The second one of a credential waits behind its first one.
  expect([queue.take(isEven), queue.take(isEven)]).toEqual([4, undefined])
  expect([queue.take(), queue.take(isEven), queue.take()]).toEqual([1, 2, 3])
})

// proves C16.7
test('long work of a tenant has the turn after one piece of another tenant', async () => {
  const turns = makeScheduler(() => 0)
  const order: string[] = []
  const piece = (tenantId: string, session: number) =>
    turns.next(owner(tenantId, 'page', session)).then(() => order.push(tenantId))
  const sessions = Array.from({ length: 20 }, (_, session) => piece('a', session))
  await Promise.all([...sessions, piece('b', 100)])
  expect(order.indexOf('b')).toBeLessThan(3)
  expect(order).toHaveLength(21)
})
