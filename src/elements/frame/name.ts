/**
 * The name on the card. No digit stays in its field: a number that is typed there by mistake is
 * neither shown nor sent as a name, which masks and people take for one.
 * @module
 */
import { nameCharsMax } from '../limits.ts'
import type { Typed, Written } from './editing.ts'

/** Digits and numerals of every script, and control characters. */
const noPartOfNames = /[\p{N}\p{Cc}]/gu

/** Whole characters, of which some take two places. */
const shorten = (text: string): string =>
  Array.from(text.replace(noPartOfNames, '')).slice(0, nameCharsMax).join('')

/** @param typed what the browser has made of the key or the paste */
export function rewriteName(_before: string, { text, caret }: Typed): Written {
  const shown = shorten(text)
  return {
    value: shown.trim().replace(/\s+/g, ' '),
    text: shown,
    caret: shorten(text.slice(0, caret)).length,
  }
}
