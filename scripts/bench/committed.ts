/**
 * The committed figures, `docs/performance.json`: the last full run and the last quick one.
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Finding, Report } from './report.ts'

export type Mode = 'full' | 'quick'

export type Committed = Readonly<Partial<Record<Mode, Report>>>

/** A ratio may fall to this share of the committed one: machines and their neighbours differ. */
export const shareMin = 0.7

export const readCommitted = (path: string): Committed =>
  existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Committed) : {}

/** Keeps the report of the other mode. */
export function writeReport(path: string, mode: Mode, report: Report): void {
  const all: Committed = { ...readCommitted(path), [mode]: report }
  writeFileSync(path, JSON.stringify(all, undefined, 2) + '\n')
}

export interface Comparison {
  readonly finding: Finding
  readonly committed: number
  /** 1 is as committed, more is better, for every kind of ratio. */
  readonly share: number
  readonly isKept: boolean
}

function compare(finding: Finding, committed: number): Comparison {
  const isMoreBetter = finding.target.is === 'at least'
  const share = isMoreBetter ? finding.median / committed : committed / finding.median
  return { finding, committed, share, isKept: share >= shareMin }
}

/** Load generators differ in how much of the machine they leave to the servers. */
const isAlike = (a: Report, b: Report): boolean =>
  a.machine.loadGenerator.split(' ')[0] === b.machine.loadGenerator.split(' ')[0]

/** Compares ratios for which short rounds suffice, if they have committed figures. */
export function compareReports(report: Report, committed: Report | undefined): Comparison[] {
  if (committed === undefined || !isAlike(report, committed)) return []
  const known = new Map(committed.findings.map(({ key, median }) => [key, median]))
  return report.findings.flatMap(finding => {
    const figure = known.get(finding.key)
    const isCompared = finding.unit === '×' && finding.isSteady
    return isCompared && figure !== undefined ? [compare(finding, figure)] : []
  })
}
