/**
 * Number of cases of random tests: all, unless `npm test` asks for the quick ones.
 * @module
 */

const isQuick = process.env['TEST_SET'] === 'quick'

/** @returns how many cases to try: `all`, or in the quick tests `quick`, by default a tenth */
export const cases = (all: number, quick: number = Math.ceil(all / 10)): number =>
  isQuick ? quick : all

/** @returns the seed of a random test: `MODEL_SEED`, to repeat a run, or one of its own */
export const freshSeed = (): number => Number(process.env['MODEL_SEED'] ?? Date.now() % 2 ** 31)
