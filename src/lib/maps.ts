/**
 * Tables keyed by texts that anybody may have chosen, and the memory of such texts.
 * @module
 */
import { pooledCharsMax, textRunMax, hashedTextsMax } from '../limits/work-limits.ts'

/*
 * What a character is: one Unicode code point, so an emoji counts once. And texts that are kept.
 *
 * Source: decision, after hardening H81 (400 characters of four bytes are an id).
 */

/**
 * Text of hostile length costs nothing: more code units than two per character decide at once.
 * @returns whether the text has `min` to `max` code points
 */
export const hasCharacters = (text: string, min: number, max: number): boolean => {
  if (text.length < min || text.length > max * 2) return false
  let count = 0
  for (const _ of text) count += 1
  return count >= min && count <= max
}

const padding = ' '.repeat(pooledCharsMax)

/**
 * What a JSON string says, in memory of its own. The engine pools short texts that it parses, in a
 * table that is hashed without a seed, where texts that collide would cost their square: so none is
 * short when it is parsed.
 * @param quoted  a valid JSON string
 */
export const decodeQuoted = (quoted: string): string => {
  if (quoted.length > pooledCharsMax) return JSON.parse(quoted) as string
  return (JSON.parse(`"${padding}${quoted.slice(1)}`) as string).slice(pooledCharsMax)
}

/**
 * The same text in memory of its own, for whatever is kept: a text that was cut out of another one
 * shares its memory, and would keep all of a body alive, card numbers included.
 */
export const ownText = (text: string): string => decodeQuoted(JSON.stringify(text))

/*
 * A map by texts that anybody may have chosen: no set of them makes a look-up slow.
 *
 * The engine hashes texts without a seed, and texts that collide in any table of it can be written
 * down, also for property names and for short texts out of `JSON.parse`. So nothing here is hashed:
 * places are kept in the order of the texts, in runs of bounded length, and found by halving.
 * Invariant: n texts cost n log n comparisons, whatever they are; entries come in the order in
 * which their texts were first set; every text is an ordinary one, `__proto__` too.
 */

/** Whether the first comes before the second in the order of UTF-16 units. */
export type IsBefore = (a: string, b: string) => boolean

const isTextBefore: IsBefore = (a, b) => a < b

/** What is read of it; every `Map` by texts is one too. */
export interface ReadonlyTextMap<V> extends Iterable<readonly [string, V]> {
  readonly size: number
  get(text: string): V | undefined
  has(text: string): boolean
  keys(): Iterable<string>
  values(): Iterable<V>
}

/** The index of the first of `count` that is not before; `isEarly` holds for those before alone. */
const findFirst = (count: number, isEarly: (index: number) => boolean): number => {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isEarly(middle)) low = middle + 1
    else high = middle
  }
  return low
}

export class TextMap<V> implements ReadonlyTextMap<V> {
  private readonly texts: string[] = []
  private readonly held: V[] = []
  /** Places in `texts`, by the order of the texts there; no run is empty but the first. */
  private readonly runs: number[][] = [[]]
  private readonly isBefore: IsBefore

  /** @param isBefore  counts comparisons in tests */
  constructor(entries: Iterable<readonly [string, V]> = [], isBefore: IsBefore = isTextBefore) {
    this.isBefore = isBefore
    for (const [text, value] of entries) this.set(text, value)
  }

  get size(): number {
    return this.texts.length
  }

  get(text: string): V | undefined {
    const place = this.placeOf(text)
    return place === undefined ? undefined : this.held[place]
  }

  has(text: string): boolean {
    return this.placeOf(text) !== undefined
  }

  /** A text that is there keeps its place. */
  set(text: string, value: V): this {
    const at = this.runOf(text)
    const run = this.runs[at] ?? []
    const index = this.indexIn(run, text)
    const place = run[index]
    if (place !== undefined && this.texts[place] === text) {
      this.held[place] = value
      return this
    }
    run.splice(index, 0, this.texts.length)
    this.texts.push(text)
    this.held.push(value)
    if (run.length > textRunMax) this.runs.splice(at + 1, 0, run.splice(textRunMax >> 1))
    return this
  }

  /** Entries in the order of their texts. */
  *inOrder(): Iterable<readonly [string, V]> {
    for (const run of this.runs) {
      for (const place of run) yield [this.texts[place] ?? '', this.held[place] as V]
    }
  }

  keys(): Iterable<string> {
    return this.texts
  }

  values(): Iterable<V> {
    return this.held
  }

  *[Symbol.iterator](): Iterator<readonly [string, V]> {
    for (const [place, text] of this.texts.entries()) yield [text, this.held[place] as V]
  }

  private isPlaceBefore(place: number | undefined, text: string): boolean {
    return place !== undefined && this.isBefore(this.texts[place] ?? '', text)
  }

  /** The run that a text belongs to: before the first that begins after it. */
  private runOf(text: string): number {
    const { runs } = this
    // The last text of the run before is before it, or it is in that run.
    return findFirst(runs.length - 1, index => this.isPlaceBefore(runs[index]?.at(-1), text))
  }

  private indexIn(run: readonly number[], text: string): number {
    return findFirst(run.length, index => this.isPlaceBefore(run[index], text))
  }

  private placeOf(text: string): number | undefined {
    const run = this.runs[this.runOf(text)] ?? []
    const place = run[this.indexIn(run, text)]
    return place !== undefined && this.texts[place] === text ? place : undefined
  }
}

/*
 * Caches by texts that anybody may have chosen: bounded, and as slow for no set of them. A text is
 * kept in memory of its own.
 *
 * Most look-ups are for the few texts of an application's masks: the latest are looked at first, in
 * a table of the engine that is too small to be slow. What was not looked up while half as many
 * others came as there may be is forgotten.
 */

export interface TextCache<V> {
  readonly get: (text: string) => V | undefined
  readonly set: (text: string, value: V) => void
}

/** @param entriesMax  at least twice `hashedTextsMax` */
export const makeTextCache = <V>(entriesMax: number): TextCache<V> => {
  const latest = new Map<string, V>()
  let older = new TextMap<V>()
  let newer = new TextMap<V>()
  const keep = (given: string, value: V): void => {
    const text = ownText(given)
    if (newer.size >= entriesMax / 2) {
      older = newer
      newer = new TextMap()
    }
    newer.set(text, value)
    if (latest.size >= hashedTextsMax) latest.clear()
    latest.set(text, value)
  }
  return {
    get(text) {
      const near = latest.get(text)
      if (near !== undefined) return near
      const found = newer.get(text) ?? older.get(text)
      if (found !== undefined) keep(text, found)
      return found
    },
    set: keep,
  }
}

/*
 * What is made once for an object, and kept for as long as that lives.
 */

/** @returns a function that gives what was made for the same object before */
export function keptFor<K extends object, V extends object, M = void>(
  make: (key: K, more: M) => V,
): (key: K, more: M) => V {
  const kept = new WeakMap<K, V>()
  return (key, more) => {
    let value = kept.get(key)
    if (value === undefined) {
      value = make(key, more)
      kept.set(key, value)
    }
    return value
  }
}
