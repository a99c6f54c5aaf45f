/**
 * JSON with each number as it was sent: a double would round long ones, and this page shows values.
 * @module
 */

interface Source {
  readonly source?: string
}

/** By the proposal "JSON.parse source text access", which all current browsers have. */
interface ExactJson {
  parse(text: string, revive: (name: string, value: unknown, at?: Source) => unknown): unknown
  readonly rawJSON?: (text: string) => unknown
  readonly isRawJSON?: (value: unknown) => boolean
}

const exact: ExactJson = JSON

/** Numbers that no double holds become objects that print as they were sent. */
function keepNumber(_: string, value: unknown, at?: Source): unknown {
  const source = at?.source
  const isExact = typeof value !== 'number' || source === undefined || String(value) === source
  return isExact ? value : (exact.rawJSON?.(source) ?? value)
}

/** @throws SyntaxError */
export const parseExact = (text: string): unknown => exact.parse(text, keepNumber)

/** True for an object of members: a number that was kept is an object too. */
export const hasMembers = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  exact.isRawJSON?.(value) !== true

/** Returns a text as it is, and anything else as JSON over several lines. */
export const printValue = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '')
