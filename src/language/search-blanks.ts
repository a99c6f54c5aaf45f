/**
 * Blanks between the words of a search. People type searches, so every Unicode blank separates,
 * such as that of a Japanese keyboard or in pasted text: within a word it would be invisible, and
 * the search find nothing. Source: Unicode, property White_Space.
 * @module
 */
import { isBlank as isAsciiBlank, type Cursor } from './expression/scan-expression.ts'

const others: ReadonlySet<number> = new Set([
  0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
])

/** Takes a UTF-16 unit. */
export const isBlank = (code: number): boolean =>
  isAsciiBlank(code) || (code >= 0x2000 && code <= 0x200a) || others.has(code)

export const skipBlanks = (cursor: Cursor): void => {
  while (isBlank(cursor.text.charCodeAt(cursor.position))) cursor.position += 1
}
