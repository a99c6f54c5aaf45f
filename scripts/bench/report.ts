/**
 * The report: checks as a table for people, and as data for comparison with other runs.
 * @module
 */
import type { LoadResult } from './load.ts'
import type { Machine } from './machine.ts'
import {
  meets,
  pick,
  type Check,
  type Outcome,
  type Point,
  type Target,
  type Unit,
} from './scenario.ts'
import { median, summaryOf, type Summary } from './statistics.ts'

export interface Finding extends Summary {
  readonly key: string
  readonly what: string
  readonly unit: Unit
  readonly target: Target
  readonly met: boolean
  readonly isSteady: boolean
}

/** Medians over the rounds. */
interface SideFigures {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor time of the server for one request. */
  readonly processorUs?: number
  readonly rounds: number
}

export interface Report {
  readonly machine: Machine
  readonly findings: readonly Finding[]
  readonly sides: Readonly<Record<string, Readonly<Record<string, SideFigures>>>>
  readonly points: readonly Point[]
  readonly notes: readonly string[]
}

function findingOf({ values, ...check }: Check): Finding {
  const summary = summaryOf(values)
  return { ...check, ...summary, met: meets(check.target, summary.median) }
}

function processorOf(results: readonly LoadResult[]): Pick<SideFigures, 'processorUs'> {
  const values = pick(results, 'processorUs')
  return values.length === 0 ? {} : { processorUs: median(values) }
}

const sidesOf = ({ sides = {} }: Outcome): Record<string, SideFigures> =>
  Object.fromEntries(
    Object.entries(sides)
      .filter(([, results]) => results.length > 0)
      .map(([name, results]) => [
        name,
        {
          perSecond: median(pick(results, 'perSecond')),
          p50Ms: median(pick(results, 'p50Ms')),
          p99Ms: median(pick(results, 'p99Ms')),
          ...processorOf(results),
          rounds: results.length,
        },
      ]),
  )

/** @param outcomes  by the name of the scenario */
export function reportOf(machine: Machine, outcomes: ReadonlyMap<string, Outcome>): Report {
  const all = [...outcomes]
  const noteOf = (name: string, note: string) => `${name}: ${note}`
  return {
    machine,
    findings: all.flatMap(([, { checks }]) => checks.map(findingOf)),
    sides: Object.fromEntries(
      all
        .map(([name, outcome]) => [name, sidesOf(outcome)] as const)
        .filter(([, s]) => Object.keys(s).length > 0),
    ),
    points: all.flatMap(([, { points = [] }]) => points),
    notes: all.flatMap(([name, { notes = [], skipped }]) => [
      ...notes.map(note => noteOf(name, note)),
      ...(skipped === undefined ? [] : [noteOf(name, `skipped, ${skipped}`)]),
    ]),
  }
}

/** Prints as many digits as matter. */
export function figure(value: number, unit: Unit): string {
  const digits = unit === 'bytes' || unit === 'tokens' || value >= 100 ? 0 : value >= 10 ? 1 : 2
  return `${value.toFixed(digits)} ${unit}`
}

const targetText = ({ is, value }: Target, unit: Unit): string =>
  `${is === 'at least' ? '≥' : '≤'} ${value} ${unit}`

function rowOf({ what, unit, target, median, low, high, met }: Finding): string {
  const spread = `${figure(low, unit).split(' ')[0]} to ${figure(high, unit).split(' ')[0]}`
  const verdict = met ? 'met' : '**missed**'
  const cells = [what, targetText(target, unit), figure(median, unit), spread, verdict]
  return `| ${cells.join(' | ')} |`
}

/** Markdown, as `docs/evidence/measurements.md` has it. */
export const tableOf = ({ findings }: Report): string =>
  ['| What | Target | Median | Rounds | |', '|---|---|---|---|---|', ...findings.map(rowOf)].join(
    '\n',
  )

const sideRow = (scenario: string, side: string, figures: SideFigures): string => {
  const { perSecond, p50Ms, p99Ms, processorUs, rounds } = figures
  const processor = processorUs === undefined ? '' : processorUs.toFixed(1)
  const cells = [Math.round(perSecond), p50Ms.toFixed(2), p99Ms.toFixed(2), processor, rounds]
  return `| ${scenario} | ${side} | ${cells.join(' | ')} |`
}

/** The figures behind the ratios. */
export const sidesTableOf = ({ sides }: Report): string =>
  [
    '| Scenario | Side | A second | p50 ms | p99 ms | Processor µs | Rounds |',
    '|---|---|---|---|---|---|---|',
    ...Object.entries(sides).flatMap(([scenario, all]) =>
      Object.entries(all).map(([side, figures]) => sideRow(scenario, side, figures)),
    ),
  ].join('\n')

export const machineText = ({ machine }: Report): string =>
  Object.entries(machine)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
