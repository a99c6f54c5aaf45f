/**
 * Mutates a text: removes, copies and moves spans, takes them from another text, changes characters
 * and numbers, and inserts words of the target's language.
 * @module
 */
import type { Random } from '../seed/random.ts'

export interface Words {
  readonly dictionary: readonly string[]
  /** Texts from which spans are taken. */
  readonly others: readonly string[]
}

type Mutation = (text: string, random: Random, words: Words) => string

const hostileChars = [
  ...'"\'\\{}[]()|:,.-+*/<>=!?@#$%^&~`_ \t\n\0',
  '0',
  '9',
  'a',
  'e',
  'E',
  'u',
  'é',
  'ß',
  'İ',
  'K',
  '１',
  '−',
  '\u2028',
  '\ufeff',
  '\ud800',
  '\udc00',
  '😀',
  '\u0301',
  '\x7f',
]

const hostileNumbers = [
  '0',
  '-0',
  '1',
  '-1',
  '9',
  '10',
  '64',
  '65',
  '99',
  '100',
  '255',
  '400',
  '999',
  '1000',
  '1e1',
  '1e400',
  '1e-400',
  '1.5',
  '0.1',
  '2147483648',
  '9007199254740993',
  '99999999999999999999',
  '1'.repeat(60),
]

const pick = <T>(random: Random, items: readonly T[], otherwise: T): T =>
  items[random.integer(items.length)] ?? otherwise

const spliced = (text: string, from: number, to: number, put: string): string =>
  text.slice(0, from) + put + text.slice(to)

/** Mostly short, sometimes of any length. */
function spanOf(text: string, random: Random): readonly [from: number, to: number] {
  const from = random.integer(text.length + 1)
  const longest = random.integer(4) === 0 ? text.length - from : 8
  return [from, Math.min(text.length, from + random.integer(longest + 1))]
}

/** Returns the run of characters of one kind at a random place: a name or a number. */
function runAt(text: string, random: Random, kind: RegExp): readonly [number, number] | undefined {
  const starts = [...text.matchAll(kind)]
  const found = starts[random.integer(starts.length)]
  return found === undefined ? undefined : [found.index, found.index + found[0].length]
}

const insertWord: Mutation = (text, random, { dictionary }) => {
  const at = random.integer(text.length + 1)
  return spliced(text, at, at, pick(random, dictionary, ''))
}

const replaceWord: Mutation = (text, random, words) => {
  const run = runAt(text, random, /\w+/g)
  if (run === undefined) return insertWord(text, random, words)
  return spliced(text, ...run, pick(random, words.dictionary, ''))
}

const replaceNumber: Mutation = (text, random, words) => {
  const run = runAt(text, random, /[0-9]+/g)
  if (run === undefined) return insertWord(text, random, words)
  return spliced(text, ...run, pick(random, hostileNumbers, '0'))
}

const mutations: readonly Mutation[] = [
  insertWord,
  insertWord,
  replaceWord,
  replaceNumber,
  (text, random) => spliced(text, ...spanOf(text, random), ''),
  (text, random) => {
    const at = random.integer(text.length + 1)
    return spliced(text, at, at + random.integer(2), pick(random, hostileChars, ' '))
  },
  (text, random) => {
    const at = random.integer(text.length + 1)
    return spliced(text, at, at + random.integer(2), String.fromCharCode(0x20 + random.integer(95)))
  },
  (text, random) => {
    const [from, to] = spanOf(text, random)
    return spliced(text, to, to, text.slice(from, to).repeat(1 + random.integer(4)))
  },
  (text, random) => {
    const [from, to] = spanOf(text, random)
    const rest = text.slice(0, from) + text.slice(to)
    const at = random.integer(rest.length + 1)
    return spliced(rest, at, at, text.slice(from, to))
  },
  (text, random, { others }) => {
    const other = pick(random, others, '')
    return spliced(text, ...spanOf(text, random), other.slice(...spanOf(other, random)))
  },
  (text, random, { others }) => {
    const other = pick(random, others, '')
    return (
      text.slice(0, random.integer(text.length + 1)) + other.slice(random.integer(other.length + 1))
    )
  },
]

/** @returns the text after one or a few changes, cut to the maximum */
export function mutate(text: string, random: Random, words: Words, charsMax: number): string {
  let changed = text
  do {
    const mutation = pick(random, mutations, insertWord)
    changed = mutation(changed, random, words)
  } while (random.integer(2) === 0)
  return changed.slice(0, charsMax)
}
