import { describe, expect, test } from 'bun:test'
import { controls } from './controls.ts'
import type { Operation } from './history.ts'

const answered = (
  op: string,
  call: number,
  value: string,
  out: Required<Operation>['out'],
): Operation => ({
  client: 1,
  part: 'a',
  op,
  in: { value, key: 'k0' },
  call,
  return: call + 1,
  out,
})

describe('a control', () => {
  const all = Object.entries(controls).flatMap(([kind, named]) =>
    Object.entries(named).map(([name, change]) => ({ kind, name, change })),
  )

  test.each(all)('of $kind, $name: says when a history has no place for it', ({ change }) => {
    const history: Operation[] = []
    expect(change(history)).toBe(false)
    expect(history).toEqual([])
  })

  test('of a stale read shows a value that had been replaced before the read', () => {
    const history = [
      answered('create', 1, 'v1', { status: 201 }),
      answered('patch', 3, 'v2', { status: 200 }),
      answered('get', 5, '', { status: 200, value: 'v2' }),
    ]
    expect(controls.register['a stale read']?.(history)).toBe(true)
    expect(history[2]?.out?.value).toBe('v1')
  })

  test('of a stale read leaves alone a read beside the write', () => {
    const read = answered('get', 3, '', { status: 200, value: 'v2' })
    const history = [
      answered('create', 1, 'v1', { status: 201 }),
      answered('patch', 3, 'v2', { status: 200 }),
      read,
    ]
    expect(controls.register['a stale read']?.(history)).toBe(false)
    expect(read.out?.value).toBe('v2')
  })

  test('of a refused live key needs a use before any end was asked for', () => {
    const late = [
      answered('regenerate', 1, '', { status: 200, key: 'k1' }),
      answered('use', 3, 'create', { status: 201 }),
    ]
    expect(controls.rights['a live key refused']?.(late)).toBe(false)
    const early = late.toReversed().map((one, at) => ({ ...one, call: at * 3, return: at * 3 + 1 }))
    expect(controls.rights['a live key refused']?.(early)).toBe(true)
    expect(early[0]?.out?.status).toBe(401)
  })
})
