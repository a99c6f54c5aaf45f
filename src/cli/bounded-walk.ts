/**
 * Walks that a command follows to their end: something other than a vault may always name one more
 * page.
 * @module
 */
import { walkedTokensMax, walkedTokensSpare } from '../limits/operation-limits.ts'
import { CommandFailure } from '../server/process/failure.ts'

/** @throws CommandFailure (a step) behind so many items; the nouns are those of a plural */
export async function* atMost<T>(
  max: number,
  nouns: string,
  walk: AsyncIterable<T>,
): AsyncGenerator<T, void> {
  let left = max
  for await (const item of walk) {
    if (left === 0) throw endless(max, nouns)
    left -= 1
    yield item
  }
}

/**
 * Tokens of a walk that a vault has just counted.
 * @throws CommandFailure (a step) if there are many more
 */
export function asMany<T>(counted: number, walk: AsyncIterable<T>): AsyncGenerator<T, void> {
  return atMost(Math.min(counted + walkedTokensSpare, walkedTokensMax), 'tokens', walk)
}

/** @throws CommandFailure, where the texts that a command holds grow beyond its memory */
export function makeTextRoom(max: number, nouns: string): (...texts: readonly string[]) => void {
  let left = max
  return (...texts) => {
    left -= texts.reduce((sum, text) => sum + text.length, 0)
    if (left < 0) throw endless(max, `characters of ${nouns}`)
  }
}

const endless = (max: number, nouns: string) =>
  new CommandFailure(`the vault lists more: expected at most ${max} ${nouns}`)
