/**
 * A map by texts that anybody may have chosen: no set of them makes a look-up slow.
 *
 * The engine hashes texts without a seed, and texts that collide in any table of it can be written
 * down, also for property names and for short texts out of `JSON.parse`. So nothing here is hashed:
 * places are kept in the order of the texts, in runs of bounded length, and found by halving.
 * Invariant: n texts cost n log n comparisons, whatever they are; entries come in the order in
 * which their texts were first set; every text is an ordinary one, `__proto__` too.
 * @module
 */
import { textRunMax, hashedTextsMax } from '../limits.ts'
import { ownText } from './own.ts'

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
export const openTextCache = <V>(entriesMax: number): TextCache<V> => {
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
