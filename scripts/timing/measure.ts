/**
 * Interleaved measuring: in each round every kind has one turn, in an order that is drawn anew, so
 * that whatever else the machine does meets all kinds alike.
 * @module
 */
import type { Random } from '../seed/random.ts'

/** One reason for a refusal. */
export interface Kind {
  readonly name: string
  /** One refusal; of what stands in several texts, the one whose turn it is. */
  readonly probe: (turn: number) => Promise<unknown>
}

/** Reasons that must not be told apart; the first is what the others are compared with. */
export interface Group {
  readonly title: string
  readonly kinds: readonly Kind[]
}

/** Groups to measure, one after the other, and what ends them. */
export interface Comparison {
  readonly groups: readonly Group[]
  readonly close: () => Promise<unknown>
}

const warmUpRoundsMax = 5_000
/** In one process nothing else runs while promises are at hand: timers have their turn here. */
const roundsBetweenPauses = 1_000

async function runRound(
  kinds: readonly Kind[],
  order: readonly number[],
  turn: number,
  into: readonly Float64Array[],
): Promise<void> {
  for (const index of order) {
    const probe = kinds[index]?.probe
    const samples = into[index]
    if (probe === undefined || samples === undefined) continue
    const startNs = Bun.nanoseconds()
    await probe(turn)
    samples[turn] = (Bun.nanoseconds() - startNs) / 1_000
  }
}

/** @returns microseconds, `rounds` of them of each kind */
export async function measure(
  kinds: readonly Kind[],
  rounds: number,
  random: Random,
): Promise<Float64Array[]> {
  const all = kinds.map(() => new Float64Array(rounds))
  const indexes = kinds.map((_, index) => index)
  const warmUpRounds = Math.min(rounds, warmUpRoundsMax)
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    if (round % roundsBetweenPauses === 0) await Bun.sleep(0)
    // What the warm-up leaves behind is written over.
    await runRound(kinds, random.shuffled(indexes), (round + warmUpRounds) % rounds, all)
  }
  return all
}
