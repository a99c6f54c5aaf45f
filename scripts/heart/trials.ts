/**
 * Tries mutants: finds the tests that reach a guard, and runs them on each change of it.
 * @module
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { root } from './files.ts'
import type { Guard, Mutant } from './guard.ts'
import { runTests, type Outcomes } from './test-run.ts'
import type { Trial } from './verdicts.ts'

const processes = 2

const forEachAtOnce = async <T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const left = items.values()
  const workers = Array.from({ length: processes }, async () => {
    for (const item of left) await work(item)
  })
  await Promise.all(workers)
}

export interface Reach {
  /** By guard: the tests that reach it. */
  readonly tests: readonly (readonly string[])[]
  /** By guard: the outcomes that all tests together reach. */
  readonly outcomes: readonly Outcomes[]
}

/** @throws Error if a test fails on the unchanged texts */
export const findReach = async (
  guards: readonly Guard[],
  tests: readonly string[],
  probed: ReadonlyMap<string, string>,
): Promise<Reach> => {
  const reaching: string[][] = guards.map(() => [])
  const outcomes: [number, number][] = guards.map(() => [0, 0])
  await forEachAtOnce(tests, async test => {
    const run = await runTests([test], probed, true)
    if (run.verdict !== 'passed') throw new Error(`${test} fails unchanged:\n${run.output}`)
    run.outcomes.forEach((counts, id) => {
      const sums = outcomes[id]
      if (counts === null || sums === undefined) return
      reaching[id]?.push(test)
      sums[0] += counts[0]
      sums[1] += counts[1]
    })
  })
  return { tests: reaching, outcomes }
}

/** Returns the text of the guard's file with one change. */
export const textWith = (guard: Guard, { start, end, text }: Mutant): string => {
  const whole = readFileSync(resolve(root, guard.file), 'utf8')
  return whole.slice(0, start) + text + whole.slice(end)
}

/** A text that does not compile would fail every test, and so prove nothing. */
const assertProgram = (guard: Guard, mutant: Mutant): void => {
  try {
    new Bun.Transpiler({ loader: 'ts' }).transformSync(textWith(guard, mutant))
  } catch (cause) {
    throw new Error(`${guard.file}:${guard.line}: ${mutant.change} is no program`, { cause })
  }
}

/** @param onTrial  called after each trial */
export const tryMutants = async (
  guards: readonly Guard[],
  reach: Reach,
  isWanted: (guard: Guard) => boolean,
  onTrial: (done: number, of: number) => void,
): Promise<readonly Trial[]> => {
  const jobs = guards.flatMap((guard, id) =>
    isWanted(guard)
      ? guard.mutants.map(mutant => ({ guard, mutant, tests: reach.tests[id] ?? [] }))
      : [],
  )
  for (const { guard, mutant } of jobs) assertProgram(guard, mutant)
  const trials: Trial[] = []
  await forEachAtOnce(jobs, async ({ guard, mutant, tests }) => {
    const texts = new Map([[guard.file, textWith(guard, mutant)]])
    const verdict = tests.length === 0 ? 'passed' : (await runTests(tests, texts, false)).verdict
    trials.push({ guard, mutant, verdict })
    onTrial(trials.length, jobs.length)
  })
  return trials
}
