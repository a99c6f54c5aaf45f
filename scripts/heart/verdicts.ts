/**
 * Totals of the guards' outcomes and mutants, without the exceptions.
 * @module
 */
import type { Exception } from './exceptions.ts'
import type { Guard, Mutant } from './guard.ts'
import type { Outcomes, Verdict } from './test-run.ts'

/** Finds the exception of a guard, and records the ones that were needed. */
export interface Exceptions {
  readonly has: (guard: Guard, what: string) => boolean
  readonly listUnused: (files: readonly string[]) => readonly string[]
}

export const openExceptions = (all: readonly Exception[]): Exceptions => {
  const used = new Set<string>()
  const keyOf = (file: string, guard: string, what: string) => `${file}: ${guard}: ${what}`
  const known = all.flatMap(({ file, guard, what }) =>
    what.map(each => ({ file, key: keyOf(file, guard, each) })),
  )
  const keys = new Set(known.map(({ key }) => key))
  return {
    has(guard, what) {
      const key = keyOf(guard.file, guard.text, what)
      if (keys.has(key)) used.add(key)
      return keys.has(key)
    },
    listUnused: files =>
      known.filter(({ file, key }) => files.includes(file) && !used.has(key)).map(({ key }) => key),
  }
}

export interface Branches {
  readonly total: number
  readonly seen: number
  readonly missing: readonly string[]
}

const placeOf = ({ file, line }: Guard): string => `${file}:${line}`

/** @param outcomes  of the guards, in their order */
export const countBranches = (
  guards: readonly Guard[],
  outcomes: readonly Outcomes[],
): Branches => {
  let seen = 0
  const missing: string[] = []
  guards.forEach((guard, index) => {
    guard.outcomes.forEach((name, which) => {
      if ((outcomes[index]?.[which] ?? 0) > 0) seen += 1
      else missing.push(`${placeOf(guard)}: never ${name}: ${guard.text}`)
    })
  })
  return { total: seen + missing.length, seen, missing }
}

export interface Trial {
  readonly guard: Guard
  readonly mutant: Mutant
  readonly verdict: Verdict
}

export const isCaught = ({ verdict }: Trial): boolean => verdict !== 'passed'

export interface Mutations {
  readonly inverted: number
  readonly others: number
  readonly caught: number
  /** Keeps every promise, with a reason. */
  readonly equivalent: number
  readonly survivors: readonly string[]
}

export const countMutations = (trials: readonly Trial[], exceptions: Exceptions): Mutations => {
  const passed = trials.filter(trial => !isCaught(trial))
  const survivors = passed.filter(({ guard, mutant }) => !exceptions.has(guard, mutant.change))
  const inverted = trials.filter(({ mutant }) => mutant.change === 'inverted').length
  return {
    inverted,
    others: trials.length - inverted,
    caught: trials.length - passed.length,
    equivalent: passed.length - survivors.length,
    survivors: survivors.map(
      ({ guard, mutant }) => `${placeOf(guard)}: ${mutant.change}: ${guard.text}`,
    ),
  }
}

/** Rows of a table: the first is the head, the last the sum. */
export const printTable = (
  head: readonly string[],
  rows: readonly (readonly [name: string, ...counts: number[]])[],
): string => {
  const sums = head.slice(1).map((_, at) => rows.reduce((sum, row) => sum + Number(row[at + 1]), 0))
  const lines = [head, head.map((_, at) => (at === 0 ? '---' : '---:')), ...rows, ['sum', ...sums]]
  return lines.map(cells => `| ${cells.join(' | ')} |`).join('\n')
}
