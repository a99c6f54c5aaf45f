/**
 * Lines for a terminal or a log, of texts that others chose: paths, names, what a file holds or
 * another system answered.
 * @module
 */

/** Unicode, general categories Cc, Cf, Cs, Zl and Zp. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const escapeOf = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
    .map(unit => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')

/**
 * A line in which nothing moves the cursor, ends the line or turns the order of its letters: each
 * such character is told by its escape, as in JSON, so that a line of JSON stays one.
 */
export const visible = (line: string): string => line.replaceAll(unseen, escapeOf)
