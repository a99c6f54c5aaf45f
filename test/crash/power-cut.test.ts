/**
 * Tests the power-cut harness itself: its model of a disk, the states that it builds and calls bad,
 * and that its recorder misses nothing.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { NewRow } from '../../src/store/contract.ts'
import { encodeRow } from '../../src/store/core/row-format.ts'
import { temporaryFolder } from '../support/folders.ts'
import { buildRecorder, type Event } from './native/recorder.ts'
import { applyEvent, buildImage, openDisk, type Disk, type Loss } from './power-cut/disk.ts'
import {
  brokenPromises,
  openPromises,
  rowOfEffect,
  takeNote,
  type Effect,
  type Note,
} from './power-cut/promises.ts'
import { countAcknowledged, isComplete, recordWorkload } from './power-cut/record.ts'
import { walkStates } from './power-cut/states.ts'

const pageBytes = 4_096
const page = (filler: number): Uint8Array => new Uint8Array(pageBytes).fill(filler)
const write = (place: number, filler: number): Event => ({
  is: 'write',
  at: place * pageBytes,
  bytes: page(filler),
})
const noteOf = (note: Note): Event => ({ is: 'note', text: JSON.stringify(note) })

function diskAfter(...events: Event[]): Disk {
  const disk = openDisk(4 * pageBytes)
  for (const event of events) applyEvent(disk, event)
  return disk
}

/** First byte of each sector, up to the length of the image. */
function sectorsAfter(disk: Disk, loss: Loss): number[] {
  const { bytes, length } = buildImage(disk, loss, new Uint8Array(4 * pageBytes))
  return Array.from({ length: length / 512 }, (_, sector) => bytes[sector * 512] ?? 0)
}

const nothingKept: Loss = { kept: [], isLong: false }

describe('the disk', () => {
  test('keeps what was written before a completed sync began, whatever is lost', () => {
    const synced: Event[] = [write(0, 7), { is: 'sync', id: 0 }, { is: 'sync_done', id: 0 }]
    const disk = diskAfter(...synced)
    expect(disk.pending).toEqual([])
    expect(sectorsAfter(disk, nothingKept)).toEqual(Array(8).fill(7))
  })

  test('may lose what was written during a sync, or before one that failed', () => {
    const during = diskAfter({ is: 'sync', id: 0 }, write(0, 7), { is: 'sync_done', id: 0 })
    expect(sectorsAfter(during, nothingKept)).toEqual([])
    const failed = diskAfter(write(0, 7), { is: 'sync', id: 0 }, { is: 'sync_failed', id: 0 })
    expect(sectorsAfter(failed, nothingKept)).toEqual([])
    expect(sectorsAfter(failed, { kept: [255], isLong: false })).toEqual(Array(8).fill(7))
  })

  test('may tear a page at its sectors, and leave zeros where a longer file has lost bytes', () => {
    const disk = diskAfter(write(0, 7))
    expect(sectorsAfter(disk, { kept: [0b101], isLong: false })).toEqual([7, 0, 7])
    expect(sectorsAfter(disk, { kept: [0b101], isLong: true })).toEqual([7, 0, 7, 0, 0, 0, 0, 0])
  })

  test('keeps the later of two writes to a place when it has both', () => {
    const disk = diskAfter(write(0, 7), write(0, 8))
    expect(sectorsAfter(disk, { kept: [255, 1], isLong: false })[0]).toBe(8)
    expect(sectorsAfter(disk, { kept: [255, 0], isLong: false })[0]).toBe(7)
  })

  test('may lose bytes through O_DSYNC until the write has returned, and not after', () => {
    const begun: Event = { is: 'synced_write', at: 40, bytes: new Uint8Array(128).fill(9) }
    expect(sectorsAfter(diskAfter(begun), nothingKept)).toEqual([])
    const done = diskAfter(begun, { is: 'synced_write_done', at: 40 })
    const { bytes, length } = buildImage(done, nothingKept, new Uint8Array(4 * pageBytes))
    expect([bytes[39], bytes[40], bytes[167], length]).toEqual([0, 9, 9, 168])
  })
})

const events: readonly Event[] = [
  noteOf({ is: 'ready' }),
  ...[1, 2, 3].map(filler => write(filler - 1, filler)),
  { is: 'sync', id: 0 },
  { is: 'sync_done', id: 0 },
]

/** Copies each state at once: it is only valid until the next one. */
const imagesOf = (count: number, seed: number): string[] =>
  Array.from(walkStates(events, { seed, count }), ({ disk, loss }) =>
    sectorsAfter(disk, loss).join(''),
  )

describe('the states', () => {
  test('are every choice of the pages that were not synced, and torn ones', () => {
    const images = new Set(imagesOf(200, 1))
    for (let choice = 0; choice < 8; choice += 1) {
      const pages = [1, 2, 3].map(filler => ((choice >> (filler - 1)) & 1 ? filler : 0))
      const image = pages.map(filler => String(filler).repeat(8)).join('')
      expect(images).toContain(image.replace(/(?:0{8})+$/, ''))
    }
    expect([...images].some(image => /101/.test(image))).toBe(true)
    expect([...images].filter(image => /[^0-3]/.test(image))).toEqual([])
  })

  test('come again in the same order with the same seed, and else in another', () => {
    expect(imagesOf(200, 1)).toEqual(imagesOf(200, 1))
    expect(imagesOf(200, 1)).not.toEqual(imagesOf(200, 2))
  })
})

const rowsOf = (...effects: Effect[]) => ({
  generation: 0,
  rows: new Map(
    effects.map(effect => [
      effect.slot,
      { ordinal: effect.ordinal ?? 1, bytes: encodeRow(rowOfEffect(effect) satisfies NewRow) },
    ]),
  ),
})

function promisesAfter(...notes: Note[]) {
  const promises = openPromises()
  for (const note of notes) takeNote(promises, note)
  return promises
}

describe('the promises', () => {
  const one: Effect = { slot: 1, serial: 1, version: 1, ordinal: 1 }
  const newer: Effect = { ...one, serial: 3, version: 2 }
  const two: Effect = { slot: 2, serial: 4, version: 1, ordinal: 2 }
  const acknowledged: Note = { is: 'acknowledged', writer: 0, effects: [one], bumps: 0 }
  const begun: Note = { is: 'begun', writer: 0, effects: [newer, two], bumps: 1 }

  test('are broken by a row that is gone, is older, or stands elsewhere', () => {
    const promises = promisesAfter(acknowledged)
    expect(brokenPromises(promises, rowsOf(one))).toEqual([])
    expect(brokenPromises(promises, rowsOf())).toHaveLength(1)
    expect(brokenPromises(promises, rowsOf(newer))).toHaveLength(1)
    expect(brokenPromises(promises, rowsOf({ ...one, ordinal: 9 }))).toHaveLength(1)
  })

  test('let a write under way be whole or absent, and not half', () => {
    const promises = promisesAfter(acknowledged, begun)
    expect(brokenPromises(promises, rowsOf(one))).toEqual([])
    expect(brokenPromises(promises, { ...rowsOf(newer, two), generation: 1 })).toEqual([])
    expect(brokenPromises(promises, rowsOf(newer))).toHaveLength(1)
    expect(brokenPromises(promises, rowsOf(one, two))).toHaveLength(1)
  })

  test('are broken by a row that was never begun, and by a generation of nobody', () => {
    const promises = promisesAfter(acknowledged)
    expect(brokenPromises(promises, rowsOf(one, two))).toEqual(['slot 2: never begun'])
    expect(brokenPromises(promises, { ...rowsOf(one), generation: 1 })).toHaveLength(1)
  })

  test('are lies when a sync that covers them did not end before', () => {
    const done: Event = { is: 'synced_write_done', at: 40 }
    const sync: Event[] = [{ is: 'sync', id: 0 }, { is: 'sync_done', id: 0 }, done]
    const honest = [noteOf(begun), ...sync, noteOf(acknowledged)]
    expect(countAcknowledged(honest)).toEqual({ all: 1, unsynced: 0 })
    const early = [...sync.slice(0, 1), noteOf(begun), ...sync.slice(1), noteOf(acknowledged)]
    expect(countAcknowledged(early)).toEqual({ all: 1, unsynced: 1 })
    expect(countAcknowledged(honest.filter(event => event !== done)).unsynced).toBe(1)
  })
})

const built = buildRecorder(temporaryFolder())
const library = 'library' in built ? built.library : undefined

describe.skipIf(library === undefined)('the recorder', () => {
  const record = (name: string, fault?: Parameters<typeof recordWorkload>[0]['fault']) => {
    const folder = join(temporaryFolder(), name)
    mkdirSync(folder)
    return recordWorkload({
      library: library ?? '',
      folder,
      seed: 1,
      ...(fault === undefined ? {} : { fault }),
    })
  }

  test('sees every byte of the database, and a missing write is noticed', async () => {
    const recording = await record('whole')
    expect([recording.exitCode, recording.stderr]).toEqual([0, ''])
    expect(isComplete(recording)).toBe(true)
    expect(countAcknowledged(recording.events)).toMatchObject({ unsynced: 0 })
    const lastWrite = recording.events.findLastIndex(({ is }) => is === 'write')
    const gap = recording.events.filter((_, at) => at !== lastWrite)
    expect(isComplete({ ...recording, events: gap })).toBe(false)
  })

  test('makes a chosen sync, write or meta write fail', async () => {
    const failing = (['sync', 'write', 'meta'] as const).map(async call => {
      const fault = { call, nth: 12, errno: 'EIO', isSticky: false } as const
      const { events: seen, exitCode } = await record(call, fault)
      expect(seen.filter(({ is }) => is === 'failed_call')).toEqual([{ is: 'failed_call', call }])
      expect(exitCode).not.toBe(0)
    })
    await Promise.all(failing)
  })
})
