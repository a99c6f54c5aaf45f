/**
 * Plan of a campaign: kind, processes and faults of each run by its index, in turn.
 * @module
 */
import { kinds, type Kind } from './kinds.ts'

export const faults = ['none', 'kill', 'stop'] as const
export type Fault = (typeof faults)[number]

/** One process on a Unix socket, or several workers on a port. */
export const modes = ['one', 'workers'] as const
export type Mode = (typeof modes)[number]

export interface Plan {
  readonly index: number
  readonly seed: number
  readonly kind: Kind
  readonly mode: Mode
  readonly fault: Fault
}

/** Clients draw from the seeds that follow that of their run. */
const seedsPerRun = 1_000

const cycle = <T>(items: readonly [T, ...T[]], at: number): T =>
  items[at % items.length] ?? items[0]

/** All kinds come first, then both modes, and the faults shift, so that a few runs have all. */
export function planOf(seed: number, index: number): Plan {
  const round = Math.floor(index / kinds.length)
  return {
    index,
    seed: seed + seedsPerRun * index,
    kind: cycle(kinds, index),
    mode: cycle(modes, round),
    fault: cycle(faults, index + 2 * round),
  }
}
