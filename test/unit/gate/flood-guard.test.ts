/**
 * Share of one turn of the loop that requests may take whose senders do not wait. Hardening H126.
 * @module
 */
import { expect, test } from 'bun:test'
import { setImmediate } from 'node:timers/promises'
import { makeFloodGuard } from '../../../src/http/flood-guard.ts'
import { strangersPerTurnMax } from '../../../src/limits/limits.ts'

const request = new Request('http://vault/tokens')
const from = (port: number, address = '127.0.0.1') => ({ requestIP: () => ({ address, port }) })
const nameless = { requestIP: () => null }

/** @returns the numbers of the requests, of that many in a row, that end their connection */
function listEnded(
  countUnadmitted: ReturnType<typeof makeFloodGuard>,
  count: number,
  port?: number,
) {
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  return numbers.filter(number => countUnadmitted(request, from(port ?? number)))
}

test('from the bound on, a request right behind one of its connection ends it', () => {
  expect(listEnded(makeFloodGuard(strangersPerTurnMax), strangersPerTurnMax + 2, 1)).toEqual([
    strangersPerTurnMax + 1,
    strangersPerTurnMax + 2,
  ])
})

test('a request of each of many connections ends none', () => {
  expect(listEnded(makeFloodGuard(strangersPerTurnMax), 10 * strangersPerTurnMax)).toEqual([])
})

test('a crowded turn goes on for the next connection, which may bring one', () => {
  const countUnadmitted = makeFloodGuard(strangersPerTurnMax)
  listEnded(countUnadmitted, strangersPerTurnMax + 1, 1)
  expect(listEnded(countUnadmitted, 2, 2)).toEqual([2])
})

test('every turn begins anew', async () => {
  const countUnadmitted = makeFloodGuard(strangersPerTurnMax)
  expect(listEnded(countUnadmitted, strangersPerTurnMax, 1)).toEqual([])
  await setImmediate()
  expect(listEnded(countUnadmitted, strangersPerTurnMax, 1)).toEqual([])
  expect(countUnadmitted(request, from(1))).toBe(true)
})

test('one port of two machines is two connections', () => {
  const countUnadmitted = makeFloodGuard(strangersPerTurnMax)
  listEnded(countUnadmitted, strangersPerTurnMax + 1, 1)
  expect(countUnadmitted(request, from(1, '127.0.0.2'))).toBe(false)
  expect(countUnadmitted(request, from(1, '127.0.0.2'))).toBe(true)
})

test('connections without a port end with none, and so do requests within this process', () => {
  const all = Array.from({ length: 2 * strangersPerTurnMax })
  const countUnadmitted = makeFloodGuard(strangersPerTurnMax)
  expect(all.map(() => countUnadmitted(request, nameless))).not.toContain(true)
  const countWithin = makeFloodGuard(strangersPerTurnMax)
  expect(all.map(() => countWithin(request, undefined))).not.toContain(true)
})
