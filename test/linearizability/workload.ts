/**
 * Workload: a scene that it sets up, and single steps that clients take in it at once.
 * @module
 */
import type { Draw } from '../crash/draw.ts'
import type { Keys } from '../crash/clients/client.ts'
import type { Client } from './client.ts'
import type { Operation } from './history.ts'

export interface World {
  readonly keys: Keys
  readonly history: Operation[]
  readonly draw: Draw
  /** Number of planned kills. */
  readonly kills: number
  /** Client for requests that are no part of the history. */
  readonly setup: Client
}

export interface Workload {
  /** One operation of one client, or a few in a row. */
  readonly step: (client: Client) => Promise<unknown>
  /** Looks at everything once more, after the last fault. */
  readonly finish: (client: Client) => Promise<unknown>
}

export type OpenWorkload = (world: World) => Promise<Workload>

/** Draws by weight. */
export function pickWeighted<T>(draw: Draw, weighted: readonly (readonly [number, T])[]): T {
  let left = draw(weighted.reduce((sum, [weight]) => sum + weight, 0))
  for (const [weight, item] of weighted) {
    if (left < weight) return item
    left -= weight
  }
  throw new Error('nothing to draw from')
}
