/**
 * The turns to send that webhooks share: one that is given back goes to whom has the fewest.
 * @module
 */
import { expect, test } from 'bun:test'
import { makeTurns } from '../../../src/webhooks/turns.ts'

function sharerOf(turns: ReturnType<typeof makeTurns>) {
  const sharer = {
    has: 0,
    wants: 0,
    underWay: () => sharer.has,
    start() {
      while (sharer.wants > 0 && turns.take(sharer)) {
        sharer.wants -= 1
        sharer.has += 1
      }
    },
    end() {
      sharer.has -= 1
      turns.give()
    },
    ask(count: number) {
      sharer.wants += count
      sharer.start()
    },
  }
  return sharer
}

test('a turn that is given back goes to the webhook that has the fewest', () => {
  const turns = makeTurns(6)
  const [greedy, modest, late] = [sharerOf(turns), sharerOf(turns), sharerOf(turns)]
  greedy.ask(100)
  expect(greedy.has).toBe(6)
  modest.ask(100)
  late.ask(100)
  for (let i = 0; i < 4; i += 1) greedy.end()
  expect([greedy.has, modest.has, late.has]).toEqual([2, 2, 2])
  expect(turns.taken()).toBe(6)
  modest.end()
  expect([greedy.has, modest.has, late.has]).toEqual([2, 2, 2])
})

test('a webhook that wants no more leaves its turn to the others', () => {
  const turns = makeTurns(2)
  const [first, second] = [sharerOf(turns), sharerOf(turns)]
  first.ask(2)
  second.ask(1)
  second.wants = 0
  first.ask(1)
  first.end()
  expect([first.has, second.has, turns.taken()]).toEqual([2, 0, 2])
})
