/**
 * Interleaved measuring: each round runs every kind once, in a new random order, so that other work
 * on the machine affects all kinds alike.
 * @module
 */
import type { Random } from '../seed/random.ts'

/** One reason for a refusal. */
export interface Kind {
  readonly name: string
  /** Makes one refusal; if there are several texts, with the one for this turn. */
  readonly probe: (turn: number) => Promise<unknown>
}

/** Reasons that must be indistinguishable; the others are compared with the first. */
export interface Group {
  readonly title: string
  readonly kinds: readonly Kind[]
}

/** Groups to measure, one after the other, and a function to end them. */
export interface Comparison {
  readonly groups: readonly Group[]
  readonly close: () => Promise<unknown>
}

const warmUpRoundsMax = 5_000
/** Promises alone would keep the event loop from its timers: they run in these pauses. */
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

/** @returns microseconds, `rounds` of them for each kind */
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
    // Later rounds overwrite the samples of the warm-up.
    await runRound(kinds, random.shuffled(indexes), (round + warmUpRounds) % rounds, all)
  }
  return all
}
