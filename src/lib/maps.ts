/**
 * Tables keyed by texts that an attacker may have chosen, and the memory of such texts.
 * @module
 */
import { pooledCharsMax, textRunMax, hashedTextsMax } from '../limits/work-limits.ts'

/*
 * Characters are Unicode code points, so an emoji counts once. Texts that are kept get their own
 * memory.
 *
 * Source: decision, after hardening H81 (400 characters of four bytes are an id).
 */

/**
 * Huge texts cost nothing: more than two code units per character decide at once.
 * @returns true if the text has `min` to `max` code points
 */
export const hasCharacters = (text: string, min: number, max: number): boolean => {
  if (text.length < min || text.length > max * 2) return false
  let count = 0
  for (const _ of text) count += 1
  return count >= min && count <= max
}

const padding = ' '.repeat(pooledCharsMax)

/**
 * Decodes a JSON string into memory of its own. The engine pools short parsed texts in a table that
 * is hashed without a seed, where colliding texts would take quadratic time: so the text is never
 * parsed as a short one.
 * @param quoted  a valid JSON string
 */
export const decodeQuoted = (quoted: string): string => {
  if (quoted.length > pooledCharsMax) return JSON.parse(quoted) as string
  return (JSON.parse(`"${padding}${quoted.slice(1)}`) as string).slice(pooledCharsMax)
}

/**
 * Copies a text that is to be kept: a text cut out of another one shares its memory, and would keep
 * a whole body alive, card numbers included.
 */
export const ownText = (text: string): string => decodeQuoted(JSON.stringify(text))

/*
 * A map keyed by texts that an attacker may have chosen: no set of them makes a look-up slow.
 *
 * The engine hashes texts without a seed, and colliding texts can be constructed for any of its
 * tables, also for property names and for short texts from `JSON.parse`. So nothing is hashed here:
 * places are kept in the order of the texts, in runs of bounded length, and found by binary search.
 * Invariant: any n texts cost n log n comparisons; entries come in the order in which their texts
 * were first set; every text is an ordinary one, `__proto__` too.
 */

/** Returns true if the first comes before the second in the order of UTF-16 units. */
export type IsBefore = (a: string, b: string) => boolean

const isTextBefore: IsBefore = (a, b) => a < b

/** The read-only part; every `Map` keyed by texts has it too. */
export interface ReadonlyTextMap<V> extends Iterable<readonly [string, V]> {
  readonly size: number
  get(text: string): V | undefined
  has(text: string): boolean
  keys(): Iterable<string>
  values(): Iterable<V>
}

/** Returns the first index below `count` that is not early; all early ones come first. */
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
  /** Places in `texts`, in the order of their texts; only the first run may be empty. */
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

  /** An existing text keeps its place. */
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

  /** Returns the index of the first run whose last text is not before this one, or the last run. */
  private runOf(text: string): number {
    const { runs } = this
    // A last text that is before it means that it belongs to a later run.
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
 * Caches keyed by texts that an attacker may have chosen: bounded, and never slow. Each text is
 * kept in memory of its own.
 *
 * Most look-ups are for the few texts of an application's masks: the latest are looked up first, in
 * a hash table too small to be slow. An entry is dropped if it is not looked up while half of
 * `entriesMax` others are set.
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

/* Values that are made once for an object, and live as long as it does. */

/** @returns a function that makes the value at the first call for an object, then returns it */
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
