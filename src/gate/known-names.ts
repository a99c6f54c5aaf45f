/**
 * Names that are nearly one that is known: they are refused, since a token whose expiry was
 * misspelled would live for ever. Source: contract section 1.
 * @module
 */
import { misspellingsMax } from '../limits.ts'

/** What clients of this family write where another name belongs, and is no near miss of it. */
const commonMistakes: ReadonlyMap<string, string> = new Map([
  ['expires_in', 'expires_at'],
  ['expires', 'expires_at'],
  ['expire', 'expires_at'],
  ['expiry', 'expires_at'],
  ['expiration', 'expires_at'],
  ['ttl', 'expires_at'],
  ['rule', 'rules'],
  ['permission', 'permissions'],
  ['condition', 'conditions'],
  ['container', 'containers'],
  ['containers', 'container'],
  ['meta_data', 'metadata'],
  ['meta', 'metadata'],
  ['deduplicate', 'deduplicate_token'],
  ['dedupe', 'deduplicate_token'],
  ['fingerprint_expr', 'fingerprint_expression'],
  ['indexes', 'search_indexes'],
])

/** Whether so many letters that are put in, left out or replaced make one text the other. */
function isWithin(a: string, b: string, edits: number): boolean {
  let same = 0
  while (same < a.length && a[same] === b[same]) same += 1
  const [left, right] = [a.slice(same), b.slice(same)]
  if (left === '' || right === '') return left.length + right.length <= edits
  if (edits === 0) return false
  const [leftRest, rightRest] = [left.slice(1), right.slice(1)]
  return (
    isWithin(leftRest, rightRest, edits - 1) ||
    isWithin(leftRest, right, edits - 1) ||
    isWithin(left, rightRest, edits - 1)
  )
}

/** decision: case is no difference, and a name that keeps nothing of the known one is another. */
function isNear(name: string, known: string): boolean {
  const longest = Math.max(name.length, known.length)
  const edits = Math.min(misspellingsMax, longest - 1)
  return Math.abs(name.length - known.length) <= edits && isWithin(name, known, edits)
}

/** The names of the members of one object. */
export interface KnownNames {
  readonly names: readonly string[]
  /** What is longer is no near miss of any. */
  readonly charsMax: number
}

export function knownNames(names: readonly string[]): KnownNames {
  const longest = [...names, ...commonMistakes.keys()].map(name => name.length)
  return { names, charsMax: Math.max(...longest) + misspellingsMax }
}

/** The known name that was meant by one that is not known; `undefined` for one that is far. */
export function findMeant(given: string, { names, charsMax }: KnownNames): string | undefined {
  if (given.length > charsMax) return undefined
  const name = given.toLowerCase()
  const meant = commonMistakes.get(name)
  if (meant !== undefined && names.includes(meant)) return meant
  return names.find(known => isNear(name, known))
}
