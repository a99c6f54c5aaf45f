/**
 * Liquid's filters for text in a page or a URL: `escape`, `escape_once`, `newline_to_br`,
 * `strip_html`, `strip_newlines`, `url_encode`, `url_decode`.
 *
 * Invariant: each runs in time linear in the text; no pattern can backtrack.
 * @module
 */
import { present } from '../../../lib/errors.ts'
import { failed, spend, type Run, assertTextFits } from '../run.ts'
import { textFilter } from './text-filters.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
}

const characters: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(entities).map(([character, entity]) => [entity, character]),
)

const stepsPerChange = 100
const stepsPerChar = 2

/**
 * Replaces each match, and pays for it and for its growth. Matches are sought one at a time,
 * because the native replace finds all of them before it calls back for the first.
 */
const change = (
  run: Run,
  text: string,
  pattern: RegExp,
  replacementOf: (match: string) => string,
): string => {
  spend(run, text.length * stepsPerChar)
  pattern.lastIndex = 0
  let changed = ''
  let start = 0
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    spend(run, stepsPerChange)
    changed += text.slice(start, found.index) + replacementOf(found[0])
    start = pattern.lastIndex
    assertTextFits(changed.length + text.length - start, run)
  }
  return changed + text.slice(start)
}

const replacementIn = (table: Readonly<Record<string, string>>, match: string): string =>
  present(table[match], 'a pattern finds only what its table has')

const escapeText = (text: string, run: Run): string =>
  change(run, text, /[&<>"']/g, match => replacementIn(entities, match))

const unescapeText = (text: string, run: Run): string =>
  change(run, text, /&(?:amp|lt|gt|#34|#39);/g, match => replacementIn(characters, match))

export const escape = textFilter(escapeText)

/** Existing entities are not escaped again. */
export const escapeOnce = textFilter((text, run) => escapeText(unescapeText(text, run), run))

export const newlineToBr = textFilter((text, run) => change(run, text, /\r?\n/g, () => '<br />\n'))

export const stripNewlines = textFilter((text, run) => change(run, text, /\r?\n/g, () => ''))

/** Openers of removed markup and their closers; tried in this order. */
const markup: readonly (readonly [opener: string, closer: string])[] = [
  ['<script', '</script>'],
  ['<style', '</style>'],
  ['<!--', '-->'],
  ['<', '>'],
]

/** Index after the markup that opens at `start`, or -1. Notes openers that nothing closes. */
const endOfMarkup = (text: string, start: number, unclosed: Set<string>): number => {
  for (const [opener, closer] of markup) {
    if (unclosed.has(opener) || !text.startsWith(opener, start)) continue
    const found = text.indexOf(closer, start + opener.length)
    if (found !== -1) return found + closer.length
    // No later one can be closed either: without this the search would be quadratic.
    unclosed.add(opener)
  }
  return -1
}

export const stripHtml = textFilter((text, run) => {
  const unclosed = new Set<string>()
  const kept: string[] = []
  let index = 0
  for (;;) {
    spend(run, stepsPerChange)
    const opened = text.indexOf('<', index)
    const end = opened === -1 ? -1 : endOfMarkup(text, opened, unclosed)
    if (end === -1) return kept.join('') + text.slice(index)
    kept.push(text.slice(index, opened))
    index = end
  }
})

/** As in a form, a space becomes `+`. */
export const urlEncode = textFilter((text, run) => {
  spend(run, text.length * stepsPerChange)
  return encodeURIComponent(text).replaceAll('%20', '+')
})

export const urlDecode = textFilter((text, run) => {
  spend(run, text.length * stepsPerChange)
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw failed(run, 'expected text that is percent-encoded UTF-8')
  }
})
