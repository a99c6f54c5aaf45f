/**
 * The fuzzing loop: mutates a text that reached something new, runs it, and keeps it if it did too.
 *
 * With one seed and a count of executions a run repeats itself, if the target has no state: time
 * only ends it.
 * @module
 */
import type { Random } from '../seed/random.ts'
import type { Coverage } from './coverage.ts'
import { mutate, type Words } from './mutate.ts'

/** A fuzzed target. */
export interface Target {
  readonly seeds: readonly string[]
  /** Words of the language of the inputs. */
  readonly dictionary: readonly string[]
  readonly charsMax: number
  /** One execution. Throws when an invariant breaks. */
  readonly run: (input: string) => void | Promise<void>
  /** Called after the last one, also after faults. Throws like `run`. */
  readonly end?: () => Promise<void>
}

export interface Budget {
  readonly seconds: number
  /** Limit that ignores the time. */
  readonly executions: number
}

interface Fault {
  readonly input: string
  /** The broken invariant, as thrown. */
  readonly reason: string
}

export interface Result {
  readonly executions: number
  readonly elapsedMs: number
  /** CPU time of the process: gives the rate that an idle machine would reach. */
  readonly cpuMs: number
  readonly corpus: number
  readonly slowest: { readonly ms: number; readonly input: string }
  readonly faults: readonly Fault[]
}

/** More of them add nothing. */
const faultsMax = 10
/** Far above any bound on work, so that a busy machine is no fault. */
const slowMsMax = 500
const shrinkRunsMax = 2_000

const reasonOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)

/** Faults at the same place count as one. */
const placeOf = (reason: string): string =>
  reason
    .split('\n')
    .filter(line => /^\s*at /.test(line))
    .slice(0, 2)
    .join('|') || reason

/** Making stacks costs more than most executions, so they are short. */
const stackFramesShown = 10

async function reasonFor(target: Target, input: string): Promise<string | undefined> {
  Error.stackTraceLimit = stackFramesShown
  try {
    await target.run(input)
    return undefined
  } catch (thrown) {
    return reasonOf(thrown)
  } finally {
    Error.stackTraceLimit = 0
  }
}

/** Removes parts that the same fault does not need, in ever smaller pieces. */
async function shrink(target: Target, { input, reason }: Fault): Promise<Fault> {
  let least = input
  let runs = 0
  for (let size = input.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < least.length && runs < shrinkRunsMax; runs += 1) {
      const shorter = least.slice(0, at) + least.slice(at + size)
      const again = await reasonFor(target, shorter)
      if (again !== undefined && placeOf(again) === placeOf(reason)) least = shorter
      else at += size
    }
  }
  return { input: least, reason: (await reasonFor(target, least)) ?? reason }
}

/** Returns the least of a few runs, since others use the machine too. */
async function timeOf(target: Target, coverage: Coverage, input: string): Promise<number> {
  let least = Infinity
  for (let times = 0; times < 3; times += 1) {
    const startMs = performance.now()
    await reasonFor(target, input)
    least = Math.min(least, performance.now() - startMs)
    // Otherwise they would count for the next execution, and the run depend on the machine.
    coverage.settle()
  }
  return least
}

/** Picks a newer text every other time: they reached what is hard to reach. */
function pickParent(corpus: readonly string[], random: Random): string {
  const newest = Math.max(1, corpus.length >> 2)
  const at =
    random.integer(2) === 0
      ? corpus.length - 1 - random.integer(newest)
      : random.integer(corpus.length)
  return corpus[at] ?? ''
}

interface State {
  readonly corpus: string[]
  readonly faults: Fault[]
  readonly places: Set<string>
  slowest: Result['slowest']
  executions: number
}

async function execute(target: Target, coverage: Coverage, state: State, input: string) {
  const startMs = performance.now()
  let reason: string | undefined
  try {
    const running = target.run(input)
    if (running !== undefined) await running
  } catch (thrown) {
    reason = (await reasonFor(target, input)) ?? reasonOf(thrown)
  }
  const tookMs = performance.now() - startMs
  state.executions += 1
  const isNew = coverage.settle()
  if (isNew) state.corpus.push(input)
  if (tookMs > state.slowest.ms) {
    const ms = await timeOf(target, coverage, input)
    if (ms > state.slowest.ms) state.slowest = { ms, input }
    if (ms > slowMsMax) reason ??= `took ${Math.round(ms)} ms`
  }
  if (reason === undefined || state.places.has(placeOf(reason))) return
  state.places.add(placeOf(reason))
  state.faults.push(await shrink(target, { input, reason }))
  coverage.settle()
}

async function endOf({ end }: Target): Promise<string | undefined> {
  try {
    await end?.()
    return undefined
  } catch (thrown) {
    return reasonOf(thrown)
  }
}

/** @param coverage of the files that the target runs through */
export async function fuzz(
  target: Target,
  coverage: Coverage,
  random: Random,
  budget: Budget,
): Promise<Result> {
  const state: State = {
    corpus: [],
    faults: [],
    places: new Set(),
    slowest: { ms: 0, input: '' },
    executions: 0,
  }
  const startMs = performance.now()
  const startUs = process.cpuUsage()
  Error.stackTraceLimit = 0
  const isOver = () =>
    state.executions >= budget.executions ||
    performance.now() - startMs >= budget.seconds * 1_000 ||
    state.faults.length >= faultsMax
  for (const seed of target.seeds) await execute(target, coverage, state, seed)
  // A target without watched files still starts from all its seeds.
  if (state.corpus.length === 0) state.corpus.push(...target.seeds)
  const words: Words = { dictionary: target.dictionary, others: state.corpus }
  while (!isOver()) {
    const input = mutate(pickParent(state.corpus, random), random, words, target.charsMax)
    await execute(target, coverage, state, input)
  }
  const { executions, corpus, slowest, faults } = state
  const reason = await endOf(target)
  if (reason !== undefined) faults.push({ input: '', reason })
  const elapsedMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(startUs)
  Error.stackTraceLimit = stackFramesShown
  return {
    executions,
    elapsedMs,
    cpuMs: (user + system) / 1_000,
    corpus: corpus.length,
    slowest,
    faults,
  }
}
