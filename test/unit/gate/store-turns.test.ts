/**
 * Operations wait for their turn at a store that is waited for, and callers have turns.
 * @module
 */
import { expect, test } from 'bun:test'
import { makeStoreGate, makeStoreTurns } from '../../../src/http/store-turns.ts'
import { turnOwner } from '../../support/turn-owner.ts'
import { expectFault } from '../../store/rows.ts'
import {
  storeFewPages,
  storeFewsPerApplication,
  storeFewsPerTenant,
  storePagesMax,
  storeWorkMax,
} from '../../../src/limits/limits.ts'
import { storeBeginsPerTurn } from '../../../src/limits/work-limits.ts'

type Max = Parameters<typeof makeStoreGate>[0]

const turn = () => new Promise<void>(resolve => void setImmediate(resolve))

/** Operations that ask to begin, and those that have, by their names. */
function crowd(max: Partial<Max>) {
  const gate = makeStoreGate({ inside: 4, spare: 2, few: 1, perTurn: Infinity, ...max })
  const begun: string[] = []
  const ask = (of: number, ...names: string[]): void => {
    for (const name of names) {
      const entering = gate.enter(turnOwner(of))
      if (entering === undefined) begun.push(name)
      else void entering.then(() => begun.push(name))
    }
  }
  const leave = async (of: number): Promise<void> => {
    gate.leave(turnOwner(of))
    await turn()
  }
  return { begun, ask, leave }
}

const many = (letter: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${letter}${i}`)

test('no more begin than the store takes, and others begin at once', async () => {
  const { begun, ask, leave } = crowd({})
  ask(1, ...many('a', 10))
  ask(2, 'b0')
  await turn()
  expect(begun).toEqual([...many('a', 4), 'b0'])
  // Further requests of that caller wait for its own, and not for those of others.
  ask(2, 'b1', 'b2')
  expect(begun).toEqual([...many('a', 4), 'b0'])
  await leave(2)
  expect(begun).toEqual([...many('a', 4), 'b0', 'b1'])
  await leave(2)
  expect(begun).toEqual([...many('a', 4), 'b0', 'b1', 'b2'])
})

// proves E10.17
test('waiting requests have turns by application, however many one has brought', async () => {
  const { begun, ask, leave } = crowd({ inside: 1, spare: 0 })
  ask(1, ...many('a', 20))
  ask(2, ...many('b', 2))
  ask(3, 'c0')
  for (const of of [1, 1, 2, 3, 1]) await leave(of)
  expect(begun).toEqual(['a0', 'a1', 'b0', 'c0', 'a2', 'b1'])
})

test('a caller who has few there begins at once, and no more than few', async () => {
  const { begun, ask, leave } = crowd({ inside: 2, spare: 9, few: 2 })
  ask(1, ...many('a', 4))
  ask(2, ...many('b', 3))
  expect(begun).toEqual(['a0', 'a1', 'b0', 'b1'])
  await leave(1)
  expect(begun).toEqual(['a0', 'a1', 'b0', 'b1', 'a2'])
  await leave(2)
  expect(begun).toEqual(['a0', 'a1', 'b0', 'b1', 'a2', 'b2'])
})

test('the spare room is bounded as well', async () => {
  const { begun, ask, leave } = crowd({ inside: 1, spare: 2 })
  for (const of of [1, 2, 3, 4, 5]) ask(of, `of ${of}`)
  await turn()
  expect(begun).toEqual(['of 1', 'of 2', 'of 3'])
  await leave(1)
  expect(begun).toEqual(['of 1', 'of 2', 'of 3', 'of 4'])
  await leave(2)
  expect(begun).toEqual(['of 1', 'of 2', 'of 3', 'of 4', 'of 5'])
})

test('few begin in one turn of the event loop, and others in between', async () => {
  const { begun, ask } = crowd({ inside: 100, spare: 100, perTurn: 3 })
  ask(1, ...many('a', 8))
  expect(begun).toEqual(many('a', 3))
  await turn()
  expect(begun).toEqual(many('a', 6))
  ask(2, 'b0', 'b1')
  expect(begun.at(-1)).toBe('b0')
  await turn()
  expect(begun.slice(7).toSorted()).toEqual(['a6', 'a7', 'b1'])
})

const page = { method: 'GET', permission: undefined, readsPages: true } as const
const write = { method: 'POST', permission: 'token:create' } as const

type Asked = typeof page | typeof write

function beginsOf(turns: ReturnType<typeof makeStoreTurns>, of: number, asked: Asked): boolean {
  const entering = turns(turnOwner(of), asked).take()
  // Nobody lets it in, and it is refused once this test is over.
  entering?.catch(() => {})
  return entering === undefined
}

test('pages have a room of their own', async () => {
  const turns = makeStoreTurns()
  const pages = Array.from({ length: 100 }, () => beginsOf(turns, 1, page))
  expect(pages.filter(Boolean)).toHaveLength(storePagesMax)
  expect(beginsOf(turns, 2, page)).toBe(true)
  expect(beginsOf(turns, 1, write)).toBe(true)
  let begun = 1
  for (let i = 1; i < storeWorkMax + 10; i += 1) {
    if (beginsOf(turns, 1, write)) begun += 1
    if (i % storeBeginsPerTurn === 0) await turn()
  }
  // Requests that waited at the end of a turn have begun in the next one.
  expect(begun).toBeLessThanOrEqual(storeWorkMax)
})

// proves E10.27
test('long pages of many credentials keep out none that has few', () => {
  const turns = makeStoreTurns()
  const begins = (of: number, tenantId: string, session?: number): boolean => {
    const entering = turns(turnOwner(of, tenantId, session), page).take()
    entering?.catch(() => {})
    return entering === undefined
  }
  const [ofApplication, ofTenant] = [storeFewsPerApplication, storeFewsPerTenant].map(
    fews => storePagesMax + fews * storeFewPages,
  )
  const sessions = Array.from({ length: 60 }, (_, i) => begins(100, 'many sessions', i))
  expect(sessions.filter(Boolean)).toHaveLength(ofApplication ?? 0)
  const others = Array.from({ length: 60 }, (_, i) => begins(101 + (i >> 1), 'many sessions'))
  expect(others.filter(Boolean)).toHaveLength((ofTenant ?? 0) - (ofApplication ?? 0))
  expect(begins(1, 'few')).toBe(true)
})

// proves E10.17
test('a session begins beside the hundreds of the key of its own application', () => {
  const turns = makeStoreTurns()
  const pages = Array.from({ length: 100 }, () => beginsOf(turns, 1, page))
  expect(pages.filter(Boolean)).toHaveLength(storePagesMax)
  expect(turns(turnOwner(1, 'tenant', 7), page).take()).toBeUndefined()
})

test('one that waits for something else gives its turn back until then', async () => {
  const turns = makeStoreTurns()
  const taken = Array.from({ length: storePagesMax }, () => turns(turnOwner(1), page))
  for (const one of taken) await one.take()
  const elsewhere = Promise.withResolvers<string>()
  const aside = taken[0]?.aside(() => elsewhere.promise)
  const next = turns(turnOwner(1), page)
  expect(next.take()).toBeUndefined()
  elsewhere.resolve('back')
  let isBack = false
  void aside?.then(() => (isBack = true))
  await turn()
  expect(isBack).toBe(false)
  next.release()
  expect(await aside).toBe('back')
  for (const one of taken) one.release()
  expect(beginsOf(turns, 1, page)).toBe(true)
})

test('a turn is given back once, also by a request that left before it came', async () => {
  const turns = makeStoreTurns()
  const taken = Array.from({ length: storePagesMax + 2 }, () => turns(turnOwner(1), page))
  const waits = taken.map(one => one.take())
  expect(waits.filter(wait => wait !== undefined)).toHaveLength(2)
  // The first one that waits is gone: it passes its turn on.
  taken.at(-2)?.release()
  taken[0]?.release()
  taken[0]?.release()
  await Promise.all(waits)
  expect(beginsOf(turns, 1, page)).toBe(false)
  for (const one of taken) one.release()
  expect(beginsOf(turns, 1, page)).toBe(true)
})

test('a request that waits too long for its turn is refused, and lets others in', async () => {
  const turns = makeStoreTurns({ readMs: 1, writeMs: 60_000 })
  const taken = Array.from({ length: storePagesMax }, () => turns(turnOwner(1), page))
  for (const one of taken) await one.take()
  const late = turns(turnOwner(1), page)
  await expectFault(late.take() ?? Promise.resolve(), 'overloaded')
  late.release()
  taken[0]?.release()
  await turn()
  expect(beginsOf(turns, 1, page)).toBe(true)
  expect(beginsOf(turns, 1, page)).toBe(false)
})
