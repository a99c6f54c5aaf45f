/**
 * Makes texts from outside (paths, names, file contents, answers of other systems) safe for a
 * terminal or a log.
 * @module
 */

/** Unicode general categories Cc, Cf, Cs, Zl and Zp. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const escapeOf = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
    .map(unit => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')

/**
 * Escapes each character that moves the cursor, ends the line or changes the direction of text. The
 * escapes are those of JSON, so that a line of JSON stays one.
 */
export const visible = (line: string): string => line.replaceAll(unseen, escapeOf)
