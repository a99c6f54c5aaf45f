/**
 * The name on the card. Its field accepts no digits: a number that is typed there by mistake is
 * neither shown nor sent as a name, which masks and people would take it for.
 * @module
 */
import { nameCharsMax } from '../limits.ts'
import type { Typed, Written } from './editing.ts'

/** Digits and numerals of every script, and control characters. */
const noPartOfNames = /[\p{N}\p{Cc}]/gu

/** Cuts between whole characters, some of which take two UTF-16 units. */
const shorten = (text: string): string =>
  Array.from(text.replace(noPartOfNames, '')).slice(0, nameCharsMax).join('')

/** @param typed the text after the browser applied the key or the paste */
export function rewriteName(_before: string, { text, caret }: Typed): Written {
  const shown = shorten(text)
  return {
    value: shown.trim().replace(/\s+/g, ' '),
    text: shown,
    caret: shorten(text.slice(0, caret)).length,
  }
}
