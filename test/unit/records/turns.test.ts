import { describe, expect, test } from 'bun:test'
import { setImmediate } from 'node:timers/promises'
import { inRowTurn } from '../../../src/records/row-turns.ts'
import { turnOwner } from '../../support/turn-owner.ts'

const digest = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)

/** A task that notes its beginning and its end. */
const noting = (events: string[], name: string) => async () => {
  events.push(`${name} begins`)
  await setImmediate()
  events.push(`${name} ends`)
  return name
}

describe('inRowTurn', () => {
  test('runs the tasks of one row one after the other, in their order', async () => {
    const events: string[] = []
    const results = await Promise.all(
      ['a', 'b', 'c'].map(name => inRowTurn(digest(1), turnOwner(1), noting(events, name))),
    )
    expect(results).toEqual(['a', 'b', 'c'])
    const expected = ['a', 'b', 'c'].flatMap(name => [`${name} begins`, `${name} ends`])
    expect(events).toEqual(expected)
  })

  test('tells a task whether it had to wait', async () => {
    const waited = () =>
      inRowTurn(digest(6), turnOwner(1), async hasWaited => {
        await setImmediate()
        return hasWaited
      })
    expect(await Promise.all([waited(), waited()])).toEqual([false, true])
    expect(await waited()).toBe(false)
  })

  // proves E10.16
  test('gives others a turn before the next of one that has brought many', async () => {
    const events: string[] = []
    const bring = (owner: number, name: string, session = 0) =>
      inRowTurn(digest(5), turnOwner(owner, 'tenant', session), noting(events, name))
    const many = ['a', 'b', 'c'].map((name, session) => bring(1, name, session))
    await Promise.all([...many, bring(2, 'other'), bring(3, 'third')])
    const began = events.filter(event => event.endsWith('begins'))
    const order = ['a', 'b', 'other', 'third', 'c']
    expect(began).toEqual(order.map(name => `${name} begins`))
  })

  test('lets the tasks of other rows run meanwhile', async () => {
    const events: string[] = []
    await Promise.all([
      inRowTurn(digest(2), turnOwner(1), noting(events, 'a')),
      inRowTurn(digest(3), turnOwner(1), noting(events, 'b')),
    ])
    expect(events.slice(0, 2)).toEqual(['a begins', 'b begins'])
  })

  test('gives a failure to its own caller, and the turn to the next', async () => {
    const fails = inRowTurn(digest(4), turnOwner(1), () => Promise.reject(new Error('own')))
    const next = inRowTurn(digest(4), turnOwner(1), () => Promise.resolve('next'))
    await expect(fails).rejects.toThrow('own')
    expect(await next).toBe('next')
    expect(await inRowTurn(digest(4), turnOwner(1), () => Promise.resolve('later'))).toBe('later')
  })
})
