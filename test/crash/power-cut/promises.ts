/**
 * Promises to the workload, and the states that a store may have when opened after a power cut.
 *
 * The workload appends a note before each write and after its acknowledgement. A writer has one
 * write under way at a time, on rows of its own: those rows are then as acknowledged, or as the
 * write under way would leave them, all together.
 * @module
 */
import type { NewRow } from '../../../src/store/contract.ts'
import { encodeRow } from '../../../src/store/core/row-format.ts'
import { seededBytes } from '../../support/seeded.ts'
import { termOf, uniqueOf } from '../../store/rows.ts'

/** Effect of a write on one row. `serial` decides all contents of the row; 0 is no row. */
export interface Effect {
  readonly slot: number
  readonly serial: number
  readonly version: number
  /** Known once the write is acknowledged. */
  readonly ordinal?: number
}

/** One write: its effects on rows, and the number of times that it bumps the generation. */
export interface Write {
  readonly effects: readonly Effect[]
  readonly bumps: number
}

export type Note =
  /** The store is made and open; promises begin here. */
  | { readonly is: 'ready' }
  | ({ readonly is: 'begun'; readonly writer: number } & Write)
  | ({ readonly is: 'acknowledged'; readonly writer: number } & Write)

export const deadlineBaseMs = Date.UTC(2030, 0, 1)
/** A term of every row, so that all rows can be listed. */
export const everyRow = termOf(0)
const ownUniqueFrom = 1_000_000
/** One part in every tenth row fills some pages of its own. */
const largePartBytes = 9_000

/** A row of the workload: its first unique is its slot, and all else follows from the serial. */
export function rowOfEffect({ slot, serial, version }: Effect): NewRow {
  const random = seededBytes(serial)
  const smallBytes = 20 + (random(1)[0] ?? 0)
  const sealed = random(serial % 10 === 0 ? largePartBytes : smallBytes)
  const row = {
    version,
    uniques: [uniqueOf(slot), uniqueOf(ownUniqueFrom + serial)],
    terms: [everyRow, termOf(1 + (slot % 3)), termOf(10 + (serial % 7))],
    parts: [sealed, random(12)],
  }
  return serial % 2 === 0 ? row : { ...row, deadlineMs: deadlineBaseMs + (serial % 5) * 1_000 }
}

export interface Promises {
  isReady: boolean
  /** By slot; a removed row has the serial 0. */
  readonly acknowledged: Map<number, Effect>
  /** Writes under way, by writer. */
  readonly pending: Map<number, Write>
  /** Generation that the acknowledged writes have led to. */
  generation: number
}

export const openPromises = (): Promises => ({
  isReady: false,
  acknowledged: new Map(),
  pending: new Map(),
  generation: 0,
})

export function takeNote(promises: Promises, note: Note): void {
  const { acknowledged, pending } = promises
  if (note.is === 'ready') {
    promises.isReady = true
  } else if (note.is === 'begun') {
    pending.set(note.writer, note)
  } else {
    for (const effect of note.effects) acknowledged.set(effect.slot, effect)
    pending.delete(note.writer)
    promises.generation += note.bumps
  }
}

/** A row as found: all of its bytes, and its ordinal. */
export interface FoundRow {
  readonly ordinal: number
  readonly bytes: Uint8Array
}

export interface Found {
  /** All rows of the store, by slot. */
  readonly rows: ReadonlyMap<number, FoundRow>
  readonly generation: number
}

const encodedBySerial = new Map<number, Uint8Array>()

function bytesOf(effect: Effect): Uint8Array {
  const bytes = encodedBySerial.get(effect.serial) ?? encodeRow(rowOfEffect(effect))
  encodedBySerial.set(effect.serial, bytes)
  return bytes
}

function isMet(effect: Effect, found: FoundRow | undefined): boolean {
  if (effect.serial === 0 || found === undefined) return effect.serial === 0 && found === undefined
  const { ordinal = found.ordinal } = effect
  return ordinal === found.ordinal && Buffer.compare(bytesOf(effect), found.bytes) === 0
}

const absent = (slot: number): Effect => ({ slot, serial: 0, version: 0 })

function brokenGeneration(promises: Promises, generation: number): string[] {
  const underWay = [...promises.pending.values()].reduce((sum, { bumps }) => sum + bumps, 0)
  const { generation: least } = promises
  if (generation >= least && generation <= least + underWay) return []
  return [`generation ${generation}, not ${least} to ${least + underWay}`]
}

/** @returns each promise that the store breaks */
export function brokenPromises(promises: Promises, { rows, generation }: Found): string[] {
  const { acknowledged, pending } = promises
  const meets = (effect: Effect) => isMet(effect, rows.get(effect.slot))
  const broken = brokenGeneration(promises, generation)
  const underWay = new Set<number>()
  for (const [writer, { effects }] of pending) {
    const before = effects.map(({ slot }) => acknowledged.get(slot) ?? absent(slot))
    for (const { slot } of effects) underWay.add(slot)
    if (before.every(meets) || effects.every(meets)) continue
    broken.push(`writer ${writer}: its rows are neither as acknowledged nor as last begun`)
  }
  for (const effect of acknowledged.values()) {
    if (underWay.has(effect.slot) || meets(effect)) continue
    broken.push(`slot ${effect.slot}: not as acknowledged at version ${effect.version}`)
  }
  for (const slot of rows.keys()) {
    if (acknowledged.has(slot) || underWay.has(slot)) continue
    broken.push(`slot ${slot}: never begun`)
  }
  return broken
}
