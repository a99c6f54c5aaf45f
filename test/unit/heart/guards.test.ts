import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Guard } from '../../../scripts/heart/guard.ts'
import { findGuards } from '../../../scripts/heart/guards.ts'
import { withProbes } from '../../../scripts/heart/probes.ts'
import { textWith } from '../../../scripts/heart/trials.ts'

/** At least one guard of each kind. */
const sample = `
export const clamp = (value: number, most = 9): number => {
  if (!(value <= most) || value === 7) return most
  return value
}
export const isOdd = (value: number): boolean => value % 2 === 1
export const nameOf = (kind: 'a' | 'b', item?: { readonly name?: string }): string => {
  switch (kind) {
    case 'a':
      return item?.name ?? 'none'
    case 'b': {
      throw new Error('b')
    }
  }
}
export const sum = (values: readonly number[]): number => {
  let total = 0
  let isSeen = false
  for (let at = 0; at < values.length; at += 1) {
    total += values[at] || 1
    isSeen ||= total > 5
  }
  return isSeen ? total : -total
}
export const safely = (run: () => void): boolean => {
  invariant(run !== undefined, 'is no guard')
  try {
    run()
    return true
  } catch {
    return false
  }
}
interface Flags {
  some(is: (flag: boolean) => boolean): boolean
}
export const anyOf = (flags: Flags): boolean => flags.some(flag => flag)
function invariant(condition: boolean, text: string): void {}
`

let folder = ''
let guards: readonly Guard[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-guards-'))
  const path = join(folder, 'sample.ts')
  writeFileSync(path, sample)
  // Without the types of the library, which take longer to read than all else.
  guards = findGuards([path], { strict: true, noLib: true, types: [] }).get(path) ?? []
})

afterAll(() => rmSync(folder, { recursive: true }))

const programOf = (text: string): string => new Bun.Transpiler({ loader: 'ts' }).transformSync(text)

describe('the guards of a text', () => {
  test('are all found, with the changes that a test has to catch', () => {
    const found = guards.map(({ line, text, mutants }) => [
      line,
      text.slice(0, 40),
      mutants.map(({ change }) => change).join(', '),
    ])
    expect(found).toEqual([
      [2, 'most = 9', 'no default'],
      [3, '!(value <= most) || value === 7', 'inverted, true, false'],
      [3, 'value <= most', 'inverted, true, false, boundary <'],
      [3, 'value === 7', 'inverted, false'],
      [6, 'value % 2 === 1', 'inverted, true, false'],
      [9, "case 'a': return item?.name ?? 'none'", 'never taken'],
      [10, "item?.name ?? 'none'", 'never the fallback, always the fallback'],
      [10, 'item?.name', 'never stops, always stops'],
      [11, "case 'b': { throw new Error('b') }", 'never taken'],
      [12, "throw new Error('b')", 'not thrown'],
      [19, 'at < values.length', 'inverted, true, false, boundary <='],
      [20, 'values[at] || 1', 'never the fallback, always the fallback'],
      [21, 'isSeen ||= total > 5', 'always assigned, never assigned'],
      [21, 'total > 5', 'inverted, true, false, boundary >='],
      [23, 'isSeen', 'inverted, true, false'],
      [29, 'true', 'inverted'],
      [30, 'catch { return false }', 'thrown on'],
      [31, 'false', 'inverted'],
      [37, 'flags.some(flag => flag)', 'inverted, true, false, every for some'],
      [37, 'flag', 'inverted, true, false'],
    ])
  })

  test('with any one change still make a program, and another one', () => {
    const texts = guards.flatMap(guard =>
      guard.mutants.map(mutant => programOf(textWith(guard, mutant))),
    )
    expect(texts).toHaveLength(guards.flatMap(({ mutants }) => mutants).length)
    expect(texts).not.toContain(programOf(sample))
  })
})

describe('probes', () => {
  const seen = new Map<number, Set<number>>()
  const see = (id: number, outcome: number) => {
    seen.set(id, (seen.get(id) ?? new Set()).add(outcome))
  }
  const hooks = {
    __truth: <T>(id: number, value: T): T => (see(id, value ? 1 : 0), value),
    __missing: <T>(id: number, value: T): T => (see(id, value === undefined ? 1 : 0), value),
    __reach: (id: number) => see(id, 0),
  }

  interface Sample {
    clamp(value: number, most?: number): number
    isOdd(value: number): boolean
    nameOf(kind: string, item?: { name: string }): string
    sum(values: readonly number[]): number
    safely(run: () => void): boolean
    anyOf(flags: readonly boolean[]): boolean
  }

  test('see each outcome, and change none', async () => {
    Object.assign(globalThis, hooks)
    const path = join(folder, 'probed.ts')
    writeFileSync(path, withProbes(join(folder, 'sample.ts'), guards, 0))
    const probed = (await import(path)) as Sample
    const missing = () =>
      guards.flatMap(({ text, outcomes }, id) =>
        outcomes.filter((_, index) => !seen.get(id)?.has(index)).map(name => `${text}: ${name}`),
      )
    expect([probed.clamp(3), probed.isOdd(3), probed.nameOf('a')]).toEqual([3, true, 'none'])
    expect([probed.sum([1, 2]), probed.safely(() => {})]).toEqual([-3, true])
    expect(missing()).toContain('value % 2 === 1: false')
    expect(missing()).not.toContain('value % 2 === 1: true')
    expect([probed.clamp(8, 5), probed.clamp(7), probed.isOdd(4)]).toEqual([5, 9, false])
    expect([probed.nameOf('a', { name: 'n' }), probed.sum([5, 0, 3])]).toEqual(['n', 9])
    expect(() => probed.nameOf('b')).toThrow('b')
    expect(probed.safely(() => probed.nameOf('b'))).toBe(false)
    expect([probed.anyOf([false]), probed.anyOf([true])]).toEqual([false, true])
    expect(missing()).toEqual([])
  })
})
