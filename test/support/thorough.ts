/**
 * How much the tests of random inputs do: all, unless `npm test` asks for the quick ones.
 * @module
 */

const isQuick = process.env['TEST_SET'] === 'quick'

/** @returns how many cases to try: `all`, or in the quick tests a tenth of them, or `quick` */
export const cases = (all: number, quick: number = Math.ceil(all / 10)): number =>
  isQuick ? quick : all
