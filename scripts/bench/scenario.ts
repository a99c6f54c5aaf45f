/**
 * Scenarios: each one measures, and reports its findings as checks against targets.
 * @module
 */
import { ratiosOf } from './statistics.ts'
import type { DataSet } from './data-sets.ts'
import type { LoadGenerator, LoadResult } from './load.ts'

export interface Bench {
  /** 10,000 tokens and short rounds in place of a million and long ones. */
  readonly isQuick: boolean
  readonly rounds: number
  readonly seconds: number
  readonly tokens: { readonly small: number; readonly large: number }
  /** Place of temporary files, on the disk under test. */
  readonly folder: string
  /** The command under test, without its arguments. */
  readonly coffer: readonly string[]
  /** True to serve with metrics and a log of every request. */
  readonly isWatched: boolean
  readonly loads: LoadGenerator
  /** A vault with that many tokens that nobody changes; made at its first use. */
  readonly vault: (tokens: number) => Promise<DataSet>
  readonly say: (line: string) => void
}

export interface Target {
  readonly is: 'at least' | 'at most'
  readonly value: number
}

export type Unit = '×' | 'ms' | 'µs' | 'MB' | 'bytes' | 's' | 'tokens' | 'pages'

export interface Check {
  /** Stable: other runs' figures are found by it. */
  readonly key: string
  readonly what: string
  readonly unit: Unit
  readonly target: Target
  /** One for each round. */
  readonly values: readonly number[]
  /** True if short rounds suffice, so that CI may compare it with the committed figure. */
  readonly isSteady: boolean
}

/** Results of each side of a comparison, one per round. */
type Sides = Readonly<Record<string, readonly LoadResult[]>>

/** One point of the graph. */
export interface Point {
  readonly series: string
  readonly tokens: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Outcome {
  readonly checks: readonly Check[]
  readonly sides?: Sides
  readonly points?: readonly Point[]
  /** Further remarks for readers. */
  readonly notes?: readonly string[]
  /** Reason for which it could not run here. */
  readonly skipped?: string
}

export interface Scenario {
  readonly name: string
  /** Needs the long rounds, the million tokens, or more time than a quick run has. */
  readonly isFullOnly?: true
  readonly run: (bench: Bench) => Promise<Outcome>
}

export type Side = (round: number) => Promise<LoadResult>

/** Warms each side up once, then A B A B … @returns the results of each side, one per round */
export async function alternate<S extends Readonly<Record<string, Side>>>(
  { rounds, say }: Bench,
  sides: S,
): Promise<{ [Name in keyof S]: LoadResult[] }> {
  const results: Record<string, LoadResult[]> = {}
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, side] of Object.entries(sides)) {
      const result = await side(round)
      if (round === 0) continue
      results[name] = [...(results[name] ?? []), result]
      const { perSecond, p50Ms, p99Ms } = result
      const latency = `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`
      say(`  ${round}: ${name}: ${Math.round(perSecond)} a second, ${latency}`)
    }
  }
  return results as { [Name in keyof S]: LoadResult[] }
}

type Member = 'perSecond' | 'p50Ms' | 'p99Ms' | 'processorUs' | 'pages'

/** @returns the member's values, from the rounds that have it */
export const pick = (results: readonly LoadResult[], member: Member): readonly number[] =>
  results.flatMap(result => result[member] ?? [])

/** Returns a check of the ratio of two sides, round by round. */
export const ratioCheck = (
  check: Omit<Check, 'unit' | 'values'>,
  member: Member,
  above: readonly LoadResult[],
  below: readonly LoadResult[],
): Check => ({ ...check, unit: '×', values: ratiosOf(pick(above, member), pick(below, member)) })

export const atLeast = (value: number): Target => ({ is: 'at least', value })
export const atMost = (value: number): Target => ({ is: 'at most', value })

export const meets = ({ is, value }: Target, measured: number): boolean =>
  is === 'at least' ? measured >= value : measured <= value

/** Prints 1,000,000 as `1 M`. */
export const countText = (tokens: number): string => {
  if (tokens >= 1e6) return `${tokens / 1e6} M`
  return tokens >= 1e3 ? `${tokens / 1e3} k` : String(tokens)
}
