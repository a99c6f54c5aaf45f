/**
 * The words that may come next in a query, by its grammar and by what the page has shown.
 * @module
 */
import { suggestionsMax } from './limits.ts'
import { sampleTypes } from './sample.ts'

export interface Suggestion {
  /** Text in place of the word before the caret. */
  readonly text: string
  readonly means: string
}

/** Words that the page has shown. */
export interface KnownWords {
  readonly metadata: readonly string[]
  readonly containers: readonly string[]
}

export interface Completion {
  /** Begin of that word, in UTF-16 units. */
  readonly from: number
  readonly suggestions: readonly Suggestion[]
}

const fields: readonly Suggestion[] = [
  { text: 'id:', means: 'one token' },
  { text: 'type:', means: 'such as card' },
  { text: 'data:', means: 'a value that was indexed' },
  { text: 'metadata.', means: 'a name, and then its value' },
  { text: 'container:', means: 'one, or all below it by *' },
  { text: 'created_at:', means: 'a day, or [A TO B]' },
  { text: 'modified_at:', means: 'a day, or [A TO B]' },
  { text: 'created_by:', means: 'id of an application' },
  { text: 'modified_by:', means: 'id of an application' },
  { text: 'fingerprint:', means: 'tokens of equal content' },
  { text: 'NOT ', means: 'all but what follows' },
]

const operators: readonly Suggestion[] = [
  { text: 'AND ', means: 'both' },
  { text: 'OR ', means: 'one of both, or both' },
  { text: 'AND NOT ', means: 'the first without the second' },
]

/** A word of the grammar; any other stands in quotation marks. */
const isWord = (text: string): boolean => /^[^\s"()[\]{}\\*:]+$/.test(text)

const metadataOf = (names: readonly string[]): Suggestion[] =>
  names.filter(isWord).map(name => ({ text: `metadata.${name}:`, means: 'metadata' }))

function valuesOf(word: string, { containers }: KnownWords): Suggestion[] {
  if (word.startsWith('type:')) {
    return sampleTypes.map(type => ({ text: `type:${type} `, means: 'type' }))
  }
  return containers.map(path => ({ text: `container:${path}* `, means: 'it and all below' }))
}

function clausesOf(word: string, known: KnownWords): readonly Suggestion[] {
  if (word.includes(':')) return valuesOf(word, known)
  return word.startsWith('metadata.') ? metadataOf(known.metadata) : fields
}

/** Metadata by its name alone, as a list shows it. */
const namedBy = (word: string, { metadata }: KnownWords): readonly Suggestion[] =>
  word === '' ? [] : metadataOf(metadata.filter(name => name.startsWith(word)))

/** True within a quoted text, or between the ends of a range. */
const isWithin = (text: string): boolean => {
  const outside = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, 'x')
  return outside.includes('"') || /[[{][^\]}]*$/.test(outside)
}

/** @param head the query up to the caret */
export function completionOf(head: string, known: KnownWords): Completion {
  if (isWithin(head)) return { from: head.length, suggestions: [] }
  const word = /[^\s()!-][^\s()]*$/.exec(head)?.[0] ?? ''
  const from = head.length - word.length
  const before = head.slice(0, from)
  const isClause = /(?:^|[(!-]|(?:^|[\s)])(?:AND|OR|NOT)\s)\s*$/.test(before)
  const begun = isClause ? word : word.toUpperCase()
  const suggestions = (isClause ? clausesOf(word, known) : operators).filter(
    ({ text }) => text.startsWith(begun) && text.trim() !== begun,
  )
  const named = isClause ? namedBy(word, known) : []
  return { from, suggestions: [...suggestions, ...named].slice(0, suggestionsMax) }
}
