/**
 * The budget of bytes for bodies under way. Contract section 16.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { makeBodyBudget } from '../../../src/http/budgets.ts'
import { turnOwner } from '../../support/turn-owner.ts'

const bounds = { bodyBytesMax: 10, bodiesBytesMax: 100, credentialBodiesBytesMax: 40 }
const overloaded = expect.objectContaining({ kind: 'overloaded' })

describe('a budget of bodies', () => {
  // proves C16.4
  test('gives one credential its own share, and no more', () => {
    const open = makeBodyBudget(bounds)
    const holds = Array.from({ length: 4 }, () => open(turnOwner(1)))
    for (const hold of holds) hold.take(10)
    expect(() => open(turnOwner(1)).take(1)).toThrow(overloaded)
    open(turnOwner(2)).take(10)
    holds[0]?.release()
    open(turnOwner(1)).take(10)
    expect(() => open(turnOwner(1)).take(1)).toThrow(overloaded)
  })

  test('gives all of them together what the process has', () => {
    const open = makeBodyBudget(bounds)
    const holds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(of => open(turnOwner(of)))
    for (const hold of holds) hold.take(10)
    const late = open(turnOwner(11))
    expect(() => late.take(1)).toThrow(overloaded)
    holds[3]?.release()
    late.take(10)
    expect(() => open(turnOwner(12)).take(1)).toThrow(overloaded)
  })

  test('takes nothing where it refuses, and gives back what was taken, once', () => {
    const open = makeBodyBudget(bounds)
    const hold = open(turnOwner(1))
    hold.take(30)
    expect(() => hold.take(11)).toThrow(overloaded)
    hold.take(10)
    hold.release()
    hold.release()
    open(turnOwner(1)).take(40)
    expect(() => open(turnOwner(1)).take(1)).toThrow(overloaded)
  })

  test('gives nothing more to a request that was answered', () => {
    const hold = makeBodyBudget(bounds)(turnOwner(1))
    hold.release()
    expect(() => hold.take(1)).toThrow(overloaded)
  })

  // proves C16.4
  test('always has room for one body of the longest', () => {
    const open = makeBodyBudget({
      bodyBytesMax: 50,
      bodiesBytesMax: 1,
      credentialBodiesBytesMax: 1,
    })
    const hold = open(turnOwner(1))
    hold.take(50)
    expect(() => open(turnOwner(2)).take(1)).toThrow(overloaded)
    hold.release()
    open(turnOwner(2)).take(50)
  })
})
