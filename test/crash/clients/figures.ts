/**
 * Figures of a ledger at the end of a part.
 * @module
 */
import type { PartResult } from '../part.ts'
import { totalOf, type Ledger } from './ledger.ts'

const bulk = 'items in bulk'

/** Writes that were each acknowledged by an answer of their own. */
export const countSingle = ({ acknowledged }: Ledger): number =>
  totalOf(acknowledged) - (acknowledged.get(bulk) ?? 0)

/** Counts of acknowledged writes by kind, and of breaches. */
export function ledgerFigures(ledger: Ledger): PartResult['figures'] {
  const { acknowledged, breaches } = ledger
  const count = (kind: string): number => breaches.filter(breach => breach.kind === kind).length
  const kinds = [...acknowledged].map(([kind, writes]) => [`acknowledged: ${kind}`, writes])
  return {
    'acknowledged writes': countSingle(ledger),
    ...Object.fromEntries(kinds),
    checked: ledger.checked,
    lost: count('lost'),
    'half-applied': count('half-applied'),
    ghosts: count('ghost'),
    'wrong answers': count('wrong answer'),
  }
}

export const breachesOf = ({ breaches }: Ledger): string[] => breaches.map(({ what }) => what)

/** Median and longest time to ready, whatever ended the server before. */
export function readyFigures(readyMs: readonly number[]): PartResult['figures'] {
  const sorted = readyMs.toSorted((a, b) => a - b)
  return {
    'restart to ready, median ms': Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
    'restart to ready, longest ms': Math.round(sorted.at(-1) ?? 0),
  }
}
