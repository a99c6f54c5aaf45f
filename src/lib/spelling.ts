/**
 * Suggests the known name that was probably meant by an unknown one.
 *
 * The unknown name is never repeated: it is a text of the caller.
 * @module
 */
import { misspellingsMax } from '../limits/limits.ts'

/** Returns true if that many insertions, deletions, replacements or swaps make the texts equal. */
function isWithin(a: string, b: string, edits: number): boolean {
  let same = 0
  while (same < a.length && a[same] === b[same]) same += 1
  const [left, right] = [a.slice(same), b.slice(same)]
  if (left === '' || right === '') return left.length + right.length <= edits
  if (edits === 0) return false
  const [leftRest, rightRest] = [left.slice(1), right.slice(1)]
  const isSwapped = left[0] === right[1] && left[1] === right[0]
  return (
    (isSwapped && isWithin(left.slice(2), right.slice(2), edits - 1)) ||
    isWithin(leftRest, rightRest, edits - 1) ||
    isWithin(leftRest, right, edits - 1) ||
    isWithin(left, rightRest, edits - 1)
  )
}

/**
 * decision: a name that keeps nothing of the known one is another.
 * @param edits maximum number of edits
 */
export function isNear(name: string, known: string, edits = misspellingsMax): boolean {
  const longest = Math.max(name.length, known.length)
  const most = Math.min(edits, longest - 1)
  return Math.abs(name.length - known.length) <= most && isWithin(name, known, most)
}

/** decision: in a name so short, two other letters make another word. */
const shortCharsMax = 5

/** Allowed edits of a name that is refused in any case. */
export const editsOf = ({ length }: string): number =>
  length <= shortCharsMax ? 1 : misspellingsMax

/**
 * Returns the known name that was probably meant, in any case of letters; `undefined` if none is
 * near. The cost does not depend on the length of the given name.
 */
function nearestName(given: string, names: readonly string[]): string | undefined {
  const charsMax = Math.max(0, ...names.map(name => name.length)) + misspellingsMax
  if (given.length > charsMax) return undefined
  const name = given.toLowerCase()
  for (let edits = 0; edits <= misspellingsMax; edits += 1) {
    const found = names.find(known => isNear(name, known, Math.min(edits, editsOf(known))))
    if (found !== undefined) return found
  }
  return undefined
}

export const didYouMean = (meant: string): string => `did you mean \`${meant}\`?`

/** In the given order. */
export const listNames = (names: Iterable<string>): string =>
  Array.from(names, name => `\`${name}\``).join(', ')

/** Returns what to write in place of a value that is none of the names. */
export const expectedOneOf = (given: unknown, names: readonly string[]): string => {
  const meant = typeof given === 'string' ? nearestName(given, names) : undefined
  return meant === undefined ? `expected one of ${names.join(', ')}` : didYouMean(meant)
}
