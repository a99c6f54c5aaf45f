/**
 * Owners have turns, however many items somebody has brought.
 * @module
 */
import { expect, test } from 'bun:test'
import { makeFairQueue } from '../../src/lib/fair-queue.ts'

test('owners come in turns, and the items of one in their order', () => {
  const queue = makeFairQueue<string>()
  for (const item of ['a1', 'a2', 'a3']) queue.add(1, item)
  queue.add(2, 'b1')
  queue.add(2, 'b2')
  const taken: (string | undefined)[] = []
  for (let [head] = queue.heads(); head !== undefined; [head] = queue.heads()) {
    taken.push(queue.take(head[0]))
  }
  expect(taken).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
  expect(queue.take(1)).toBeUndefined()
})

test('one that may not have its turn yet keeps its place', () => {
  const queue = makeFairQueue<string>()
  queue.add(1, 'a1')
  queue.add(2, 'b1')
  queue.add(2, 'b2')
  expect(queue.take(2)).toBe('b1')
  expect([...queue.heads()]).toEqual([
    [1, 'a1'],
    [2, 'b2'],
  ])
})
