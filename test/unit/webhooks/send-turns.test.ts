/**
 * The turns to send that webhooks share: one that is given back goes to the tenant and the webhook
 * that have the fewest, and no tenant has more than its share.
 * @module
 */
import { expect, test } from 'bun:test'
import { makeTurns } from '../../../src/webhooks/turns.ts'

function sharerOf(turns: ReturnType<typeof makeTurns>, tenantId = 'one') {
  const sharer = {
    tenantId,
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
      turns.give(sharer)
    },
    ask(count: number) {
      sharer.wants += count
      sharer.start()
    },
  }
  return sharer
}

test('a turn that is given back goes to the webhook that has the fewest', () => {
  const turns = makeTurns({ all: 6, tenant: 6 })
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
  const turns = makeTurns({ all: 2, tenant: 2 })
  const [first, second] = [sharerOf(turns), sharerOf(turns)]
  first.ask(2)
  second.ask(1)
  second.wants = 0
  first.ask(1)
  first.end()
  expect([first.has, second.has, turns.taken()]).toEqual([2, 0, 2])
})

test('a tenant has no more than its share, however many webhooks it begins anew', () => {
  const turns = makeTurns({ all: 4, tenant: 2 })
  const [gone, anew, other] = [sharerOf(turns), sharerOf(turns), sharerOf(turns, 'two')]
  gone.ask(2)
  anew.ask(2)
  other.ask(2)
  expect([gone.has, anew.has, other.has]).toEqual([2, 0, 2])
  gone.end()
  expect([gone.has, anew.has, other.has]).toEqual([1, 1, 2])
})

test('of two tenants that wait, the one that holds fewer comes first', () => {
  const turns = makeTurns({ all: 3, tenant: 3 })
  const [old, anew, other] = [sharerOf(turns), sharerOf(turns), sharerOf(turns, 'two')]
  old.ask(3)
  anew.ask(1)
  other.ask(1)
  old.end()
  expect([anew.has, other.has]).toEqual([0, 1])
})

test('a webhook that has left is started no more', () => {
  const turns = makeTurns({ all: 1, tenant: 1 })
  const [holder, left] = [sharerOf(turns), sharerOf(turns)]
  holder.ask(1)
  left.ask(1)
  turns.leave(left)
  holder.end()
  expect([left.has, turns.taken()]).toEqual([0, 0])
})
