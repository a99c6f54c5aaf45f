import { describe, expect, test } from 'bun:test'
import { kinds } from './kinds.ts'
import { faults, modes, planOf } from './plan.ts'

const combine = (runs: number) =>
  Array.from({ length: runs }, (_, index) => planOf(1, index)).map(
    ({ kind, mode, fault }) => `${kind} ${mode} ${fault}`,
  )

const all = kinds.flatMap(kind =>
  modes.flatMap(mode => faults.map(fault => `${kind} ${mode} ${fault}`)),
)

describe('the runs of a campaign', () => {
  test('have each kind, mode and fault together once before any comes twice', () => {
    expect(combine(all.length).toSorted()).toEqual(all.toSorted())
  })

  test('have each kind in each mode, and every fault, already in the short form', () => {
    const short = Array.from({ length: kinds.length * modes.length }, (_, at) => planOf(1, at))
    expect(new Set(short.map(({ kind, mode }) => `${kind} ${mode}`)).size).toBe(short.length)
    expect(new Set(short.map(({ fault }) => fault))).toEqual(new Set(faults))
  })

  test('draw the same from the same seed, and each something else', () => {
    const seeds = Array.from({ length: 160 }, (_, index) => planOf(7, index).seed)
    expect(new Set(seeds).size).toBe(seeds.length)
    expect(planOf(7, 3)).toEqual(planOf(7, 3))
  })
})
