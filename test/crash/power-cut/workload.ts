/**
 * The process whose power is cut: `workload.ts <folder> <log> <seed>`.
 *
 * Some writers insert, replace and remove rows of the real store, several writes under way at once,
 * and note in the log each write that they begin and each acknowledgement. A write that the store
 * refuses ends the process on the spot, as the server does.
 * @module
 */
import { openSync, writeSync } from 'node:fs'
import type { Change } from '../../../src/store/contract.ts'
import { openLmdbStore } from '../../../src/store/lmdb/lmdb-store.ts'
import { seededBytes } from '../../support/seeded.ts'
import { encodeNote } from '../native/recorder.ts'
import { rowOfEffect, type Effect, type Note, type Write } from './promises.ts'

const writesOfWriter = 30
const slotsOfWriter = 5
const writersMin = 2
const pauseMsMax = 4

const [, , folder = '', logFile = '', seedText = ''] = process.argv
const seed = Number(seedText)
const log = openSync(logFile, 'a')
/** Several folds in a run, each of them in some twenty steps. */
const fold = { rows: 15, puts: 2, putsPerDigest: 0 }
const store = await openLmdbStore({ path: folder, freeBytes: () => Infinity, fold })
let lastSerial = 0

const tell = (note: Note): void => {
  writeSync(log, encodeNote(JSON.stringify(note)))
}

interface Step {
  readonly effect: Effect
  readonly change: Change
}

/** Returns the next step for a row of the writer, which may exist or not. */
function drawStep(slot: number, current: Effect | undefined, dice: number): Step {
  if (current === undefined || current.serial === 0) {
    const effect = { slot, serial: (lastSerial += 1), version: 1 }
    return { effect, change: { insert: rowOfEffect(effect) } }
  }
  const { ordinal = 0, version } = current
  if (dice % 3 === 0) {
    return { effect: { slot, serial: 0, version: 0 }, change: { remove: ordinal } }
  }
  const effect = { slot, serial: (lastSerial += 1), version: version + 1, ordinal }
  return { effect, change: { replace: rowOfEffect(effect), ordinal, ifVersion: version } }
}

/** Sometimes two rows, and the generation, change in one write. */
function drawSteps(own: ReadonlyMap<number, Effect>, slots: readonly number[], dice: Uint8Array) {
  const [first = 0, second = 0, action = 0, other = 0] = dice
  const at = first % slots.length
  const isDouble = second % 4 === 0
  const places = isDouble ? [at, (at + 1 + (other % (slots.length - 1))) % slots.length] : [at]
  return places.map((place, i) => {
    const slot = slots[place] ?? 0
    return drawStep(slot, own.get(slot), action >> i)
  })
}

/** The answer has the ordinals of inserts and replaces, in their order. */
function acknowledge(effects: readonly Effect[], ordinals: readonly number[]): readonly Effect[] {
  const left = [...ordinals]
  return effects.map(effect => {
    const ordinal = effect.serial === 0 ? undefined : left.shift()
    return ordinal === undefined ? effect : { ...effect, ordinal }
  })
}

async function write(writer: number): Promise<void> {
  const random = seededBytes(seed * 100 + writer)
  const slots = Array.from({ length: slotsOfWriter }, (_, i) => writer * slotsOfWriter + i)
  const own = new Map<number, Effect>()
  for (let count = 0; count < writesOfWriter; count += 1) {
    const steps = drawSteps(own, slots, random(4))
    const begun: Write = {
      effects: steps.map(({ effect }) => effect),
      bumps: (random(1)[0] ?? 0) % 8 === 0 ? 1 : 0,
    }
    tell({ is: 'begun', writer, ...begun })
    const bump: Change[] = begun.bumps === 1 ? [{ bumpGeneration: true }] : []
    const outcome = await store.write([...steps.map(({ change }) => change), ...bump])
    if (!outcome.ok) throw new Error(`refused at ${outcome.at}: ${outcome.reason}`)
    const effects = acknowledge(begun.effects, outcome.ordinals)
    tell({ is: 'acknowledged', writer, effects, bumps: begun.bumps })
    for (const effect of effects) own.set(effect.slot, effect)
    // Makes writers fall out of step, so that a commit holds sometimes one write, sometimes more.
    await Bun.sleep((random(1)[0] ?? 0) % pauseMsMax)
  }
}

async function run(): Promise<void> {
  tell({ is: 'ready' })
  const writers = writersMin + (seed % 4)
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  await store.close()
}

try {
  await run()
} catch (error) {
  console.error(error)
  process.kill(process.pid, 'SIGKILL')
}
