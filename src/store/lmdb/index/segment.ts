/**
 * A segment of the tail: the headers of some rows, and a look-up of them by digest.
 *
 * Everything is in a few typed arrays: with hundreds of thousands of digests as texts in Maps, the
 * garbage collector would visit each one on every run.
 * @module
 */
import { termBytes, uniqueBytes } from '../../../limits/work-limits.ts'
import { digestPrefixes } from '../../core/limits.ts'
import { readU32, writeU32 } from '../../../lib/bytes.ts'
import type { Digest } from '../../contract.ts'
import { digestsAt, versionOf } from '../../core/row.ts'
import type { RowVersion } from '../layout.ts'
import { addPlace, dropPlace, type ChunkPlaces } from './postings.ts'
import { chunkOf, lowOf } from '../../core/place-set.ts'

/*
 * A hash table of digests with open addressing. Each entry also links to the previous one with the
 * same first byte, because folds read those together. Digests are keyed, so no caller can choose
 * their slots.
 */

interface DigestTable {
  /** Words of a key: the number of a chunk, then a digest in big endian. */
  readonly words: number
  /** Entries, counted from 1; 0 is free. */
  slots: Int32Array
  size: number
  keys: Uint32Array
  values: Float64Array
  /** The previous entry with the same first byte. */
  before: Int32Array
  /** The last entry of each first byte. */
  readonly last: Int32Array
}

const none = -1
const wordBytes = 4
const slotsMin = 64
/** At most half of the slots are filled, so that searches stay short. */
const slotsPerEntry = 2

const makeTable = (digestBytes: number): DigestTable => {
  const words = 1 + digestBytes / wordBytes
  const entries = slotsMin / slotsPerEntry
  return {
    words,
    slots: new Int32Array(slotsMin),
    size: 0,
    keys: new Uint32Array(entries * words),
    values: new Float64Array(entries),
    before: new Int32Array(entries),
    last: new Int32Array(digestPrefixes).fill(none),
  }
}

/** The key that is looked up; overwritten by the next look-up. */
const probe = new Uint32Array(1 + uniqueBytes / wordBytes)

function setProbe({ words }: DigestTable, chunk: number, bytes: Uint8Array, at: number): void {
  probe[0] = chunk
  for (let word = 1; word < words; word += 1) {
    probe[word] = readU32(bytes, at + (word - 1) * wordBytes)
  }
}

/** Fractional part of the golden ratio, as 32 bits: spreads consecutive numbers. */
const spread = 0x9e3779b1

/** Hashes the chunk and both ends of a digest. @param at start of its key */
const hashAt = (keys: Uint32Array, at: number, words: number): number =>
  Math.imul((keys[at] ?? 0) ^ (keys[at + words - 1] ?? 0), spread) ^ (keys[at + 1] ?? 0)

function matchesProbe({ words, keys }: DigestTable, entry: number): boolean {
  for (let word = 0; word < words; word += 1) {
    if (keys[entry * words + word] !== probe[word]) return false
  }
  return true
}

/** Slot of the probe, or the free slot for it. */
function slotOfProbe(table: DigestTable): number {
  const { slots, words } = table
  const mask = slots.length - 1
  let slot = hashAt(probe, 0, words) & mask
  for (let entry = slots[slot] ?? 0; entry !== 0; entry = slots[slot] ?? 0) {
    if (matchesProbe(table, entry - 1)) return slot
    slot = (slot + 1) & mask
  }
  return slot
}

/** @returns `none` if it is missing */
const entryOfProbe = (table: DigestTable): number => (table.slots[slotOfProbe(table)] ?? 0) + none

function enlarge<T extends Uint32Array | Float64Array | Int32Array>(from: T, to: T): T {
  to.set(from)
  return to
}

function grow(table: DigestTable): void {
  const { words, size } = table
  table.keys = enlarge(table.keys, new Uint32Array(table.keys.length * 2))
  table.values = enlarge(table.values, new Float64Array(table.values.length * 2))
  table.before = enlarge(table.before, new Int32Array(table.before.length * 2))
  const slots = new Int32Array(table.slots.length * 2)
  const mask = slots.length - 1
  for (let entry = 0; entry < size; entry += 1) {
    let slot = hashAt(table.keys, entry * words, words) & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = entry + 1
  }
  table.slots = slots
}

const prefixOf = (word: number): number => word >>> 24

/** Entry of the probe; created if it is missing. */
function addProbe(table: DigestTable): number {
  if (table.size === table.values.length) grow(table)
  const slot = slotOfProbe(table)
  const known = table.slots[slot] ?? 0
  if (known !== 0) return known + none
  const entry = table.size
  const { words, keys, values, before, last } = table
  for (let word = 0; word < words; word += 1) keys[entry * words + word] = probe[word] ?? 0
  const prefix = prefixOf(probe[1] ?? 0)
  values[entry] = none
  before[entry] = last[prefix] ?? none
  last[prefix] = entry
  table.slots[slot] = entry + 1
  table.size += 1
  return entry
}

const valueAt = ({ values }: DigestTable, entry: number): number => values[entry] ?? none

function compareKeys({ words, keys }: DigestTable, a: number, b: number): number {
  for (let word = 0; word < words; word += 1) {
    const difference = (keys[a * words + word] ?? 0) - (keys[b * words + word] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Entries of one first byte that still have a value, by chunk and digest. */
function sortedEntries(table: DigestTable, prefix: number): number[] {
  const entries: number[] = []
  for (let entry = table.last[prefix] ?? none; entry !== none;) {
    if (valueAt(table, entry) !== none) entries.push(entry)
    entry = table.before[entry] ?? none
  }
  return entries.sort((a, b) => compareKeys(table, a, b))
}

const chunkAt = ({ words, keys }: DigestTable, entry: number): number => keys[entry * words] ?? 0

function digestAt({ words, keys }: DigestTable, entry: number): Uint8Array {
  const digest = new Uint8Array((words - 1) * wordBytes)
  for (let word = 1; word < words; word += 1) {
    writeU32(digest, (word - 1) * wordBytes, keys[entry * words + word] ?? 0)
  }
  return digest
}

/*
 * The segment.
 */

export interface TailSegment {
  /** Offset of the clear header, by ordinal. */
  readonly rows: Map<number, number>
  headers: Uint8Array
  headersEnd: number
  /** Digests to ordinals. */
  readonly uniques: DigestTable
  /** Terms to the place of their only row in the chunk, or to one of `places`. */
  readonly terms: DigestTable
  readonly places: ChunkPlaces[]
  /** Number of digests of its rows. */
  digests: number
}

const headersBytesMin = 4_096

export const emptySegment = (): TailSegment => ({
  rows: new Map(),
  headers: new Uint8Array(headersBytesMin),
  headersEnd: 0,
  uniques: makeTable(uniqueBytes),
  terms: makeTable(termBytes),
  places: [],
  digests: 0,
})

/** Values of terms below `none` index `places`, counting down from here. */
const firstPlaces = none - 1

const placesAt = ({ terms, places }: TailSegment, entry: number): ChunkPlaces | undefined => {
  const value = valueAt(terms, entry)
  if (value === none) return undefined
  return value > none ? value : places[firstPlaces - value]
}

function setPlaces(
  { terms, places }: TailSegment,
  entry: number,
  to: ChunkPlaces | undefined,
): void {
  const value = valueAt(terms, entry)
  if (to === undefined || typeof to === 'number') terms.values[entry] = to ?? none
  else if (value < none) places[firstPlaces - value] = to
  else terms.values[entry] = firstPlaces - (places.push(to) - 1)
}

/** Copies a header: the bytes given are a view, and will be overwritten. */
function keepHeader(segment: TailSegment, clear: Uint8Array): number {
  const at = segment.headersEnd
  const end = at + clear.length
  if (end > segment.headers.length) {
    const larger = new Uint8Array(Math.max(end, segment.headers.length * 2))
    larger.set(segment.headers)
    segment.headers = larger
  }
  segment.headers.set(clear, at)
  segment.headersEnd = end
  return at
}

/** @returns true if no other row of the segment holds one of its uniques */
export function addRow(segment: TailSegment, ordinal: number, clear: Uint8Array): boolean {
  const { rows, uniques, terms } = segment
  rows.set(ordinal, keepHeader(segment, clear))
  const found = digestsAt(clear, 0)
  let isAlone = true
  for (let at = found.uniques; at < found.terms; at += uniqueBytes) {
    setProbe(uniques, 0, clear, at)
    const entry = addProbe(uniques)
    if (valueAt(uniques, entry) !== none) isAlone = false
    uniques.values[entry] = ordinal
    segment.digests += 1
  }
  for (let at = found.terms; at < found.end; at += termBytes) {
    setProbe(terms, chunkOf(ordinal), clear, at)
    const entry = addProbe(terms)
    setPlaces(segment, entry, addPlace(placesAt(segment, entry), lowOf(ordinal)))
    segment.digests += 1
  }
  return isAlone
}

export function dropRow(segment: TailSegment, ordinal: number): void {
  const { rows, headers, uniques, terms } = segment
  const start = rows.get(ordinal)
  if (start === undefined) return
  rows.delete(ordinal)
  const found = digestsAt(headers, start)
  for (let at = found.uniques; at < found.terms; at += uniqueBytes) {
    setProbe(uniques, 0, headers, at)
    const entry = entryOfProbe(uniques)
    if (valueAt(uniques, entry) === ordinal) uniques.values[entry] = none
    segment.digests -= 1
  }
  for (let at = found.terms; at < found.end; at += termBytes) {
    setProbe(terms, chunkOf(ordinal), headers, at)
    const entry = entryOfProbe(terms)
    if (entry !== none) {
      setPlaces(segment, entry, dropPlace(placesAt(segment, entry), lowOf(ordinal)))
    }
    segment.digests -= 1
  }
}

const heldBy = ({ rows, headers }: TailSegment, ordinal: number): RowVersion | undefined => {
  const start = rows.get(ordinal)
  return start === undefined ? undefined : { ordinal, version: versionOf(headers, start) }
}

/** Returns the row that holds a unique. */
export function holderOf(segment: TailSegment, unique: Digest): RowVersion | undefined {
  const { uniques } = segment
  if (uniques.size === 0) return undefined
  setProbe(uniques, 0, unique, 0)
  const entry = entryOfProbe(uniques)
  return entry === none ? undefined : heldBy(segment, valueAt(uniques, entry))
}

/** Returns the rows of a chunk that have a term. */
export function placesOfTerm(
  segment: TailSegment,
  term: Digest,
  chunk: number,
): ChunkPlaces | undefined {
  const { terms } = segment
  if (terms.size === 0) return undefined
  setProbe(terms, chunk, term, 0)
  const entry = entryOfProbe(terms)
  return entry === none ? undefined : placesAt(segment, entry)
}

/** All uniques of one first byte, in order, with their rows; `undefined` if a row is missing. */
export const uniquesOfPrefix = (segment: TailSegment, prefix: number) =>
  sortedEntries(segment.uniques, prefix).map(entry => ({
    unique: digestAt(segment.uniques, entry),
    holder: heldBy(segment, valueAt(segment.uniques, entry)),
  }))

/** All terms of one first byte, ordered by chunk. */
export const termsOfPrefix = (segment: TailSegment, prefix: number) =>
  sortedEntries(segment.terms, prefix).map(entry => ({
    term: digestAt(segment.terms, entry),
    chunk: chunkAt(segment.terms, entry),
    places: placesAt(segment, entry),
  }))
