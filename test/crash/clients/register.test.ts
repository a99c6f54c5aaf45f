/**
 * The oracle of the crash campaign, tested by itself: what it accepts and what it must report.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { acknowledge, begin, emptyRegister, judge, refuse, settle } from './register.ts'

describe('what a client was promised', () => {
  test('holds once it is acknowledged: an older state is lost, an unknown one a ghost', () => {
    const register = emptyRegister()
    begin(register, 1)
    acknowledge(register, 1)
    begin(register, 2)
    acknowledge(register, 2)
    expect(judge(register, 2)).toBeUndefined()
    expect(judge(register, 1)).toBe('lost')
    expect(judge(register, undefined)).toBe('lost')
    expect(judge(register, 3)).toBe('ghost')
  })

  test('may be or not be while it has no answer, and is settled by a look', () => {
    const register = emptyRegister()
    begin(register, 1)
    expect([judge(register, undefined), judge(register, 1)]).toEqual([undefined, undefined])
    settle(register, undefined)
    expect(judge(register, 1)).toBe('ghost')
  })

  test('must not have happened once it is refused', () => {
    const register = emptyRegister()
    begin(register, 1)
    refuse(register, 1)
    expect(judge(register, 1)).toBe('ghost')
    expect(judge(register, undefined)).toBeUndefined()
  })

  test('that is deleted stays so', () => {
    const register = emptyRegister()
    begin(register, 1)
    acknowledge(register, 1)
    begin(register, undefined)
    expect([judge(register, 1), judge(register, undefined)]).toEqual([undefined, undefined])
    acknowledge(register, undefined)
    expect(judge(register, 1)).toBe('ghost')
  })
})
