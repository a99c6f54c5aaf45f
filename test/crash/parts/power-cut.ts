/**
 * The power cut: every write of a workload to its database is recorded, every kind of state that a
 * cut may leave is built from that, and each must hold every acknowledged write and be consistent.
 *
 * The controls do the same with a store that is opened wrongly. They must be caught: a harness
 * that finds nothing there would find nothing anywhere.
 * Source: hardening D2, D3, D12.
 * @module
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildRecorder, type Fault } from '../native/recorder.ts'
import type { Part, PartOptions } from '../part.ts'
import { checkRecording, type Checked } from '../power-cut/check-recording.ts'
import {
  countAcknowledged,
  isComplete,
  recordWorkload,
  type Recording,
} from '../power-cut/record.ts'
import type { WeakOptions } from '../power-cut/weaken-lmdb.ts'

const sizes = {
  full: { workloads: 6, statesOfWorkload: 18_000, statesOfControl: 600 },
  short: { workloads: 2, statesOfWorkload: 750, statesOfControl: 100 },
} as const

interface Control {
  readonly name: string
  readonly weak: WeakOptions
  readonly fault?: Fault
  /** True if its states must be bad; false for the same control without the fault. */
  readonly isBad: boolean
}

/** After the meta pages of a new store, and well before the end of the workload. */
const failedFlush: Fault = { call: 'meta', nth: 12, errno: 'EIO', isSticky: false }
const overlapping = { overlappingSync: true }

const controls: readonly Control[] = [
  {
    name: 'overlapping sync, one flush failed',
    weak: overlapping,
    fault: failedFlush,
    isBad: true,
  },
  { name: 'overlapping sync, none failed', weak: overlapping, isBad: false },
  { name: 'no sync', weak: { noSync: true }, isBad: true },
  { name: 'no meta sync', weak: { noMetaSync: true }, isBad: true },
]

const isFaulty = ({ fault }: Control): boolean => fault !== undefined

interface Tally {
  acknowledged: number
  states: number
  readonly failures: string[]
  readonly counts: Record<'lost' | 'inconsistent' | 'refused' | 'died', number>
}

function folderOf({ folder }: PartOptions, name: string): string {
  const made = join(folder, name.replaceAll(/\W+/g, '-'))
  mkdirSync(made)
  return made
}

function checkRecorded(recording: Recording, seed: number, tally: Tally): void {
  const { all, unsynced } = countAcknowledged(recording.events)
  tally.acknowledged += all
  if (unsynced > 0) tally.failures.push(`seed ${seed}: ${unsynced} acknowledged before a sync`)
  if (recording.exitCode !== 0) tally.failures.push(`seed ${seed}: ${recording.stderr}`)
  if (!isComplete(recording)) tally.failures.push(`seed ${seed}: writes are missing in the record`)
}

function countStates({ states, bad }: Checked, seed: number, tally: Tally): void {
  tally.states += states
  for (const { kind, at, says } of bad) {
    tally.counts[kind] += 1
    tally.failures.push(`seed ${seed}, state ${at}: ${kind}: ${says}`)
  }
}

async function cutWorkload(options: PartOptions, library: string, seed: number, tally: Tally) {
  const folder = folderOf(options, `workload-${seed}`)
  const recording = await recordWorkload({ library, folder, seed })
  checkRecorded(recording, seed, tally)
  const count = sizes[options.size].statesOfWorkload
  countStates(await checkRecording({ log: recording.log, folder, seed, count }), seed, tally)
  options.say(`${tally.states} states, ${tally.failures.length} failures`)
}

/**
 * Refused states do not count: a store that refuses to open has noticed the damage.
 * @returns the number of other bad states, as a figure
 */
async function runControl(options: PartOptions, library: string, control: Control, tally: Tally) {
  const { name, weak, isBad } = control
  const { seed } = options
  const folder = folderOf(options, name)
  const { log } = await recordWorkload({ library, folder, seed, ...control })
  const count = sizes[options.size].statesOfControl
  const { states, bad } = await checkRecording({ log, folder, seed, count, weak })
  const unnoticed = bad.filter(({ kind }) => kind !== 'refused')
  const badStates = new Set(unnoticed.map(({ at }) => at)).size
  if (badStates > 0 !== isBad) {
    tally.failures.push(`control ${name}: ${badStates} bad of ${states} states`)
  }
  return `${badStates} of ${states}`
}

export const cutPower: Part = async options => {
  const built = buildRecorder(options.folder)
  if ('missing' in built) return { figures: {}, failures: [], skipped: built.missing }
  const counts = { lost: 0, inconsistent: 0, refused: 0, died: 0 }
  const tally: Tally = { acknowledged: 0, states: 0, failures: [], counts }
  const figures: Record<string, string> = {}
  const run = async (some: readonly Control[]) => {
    for (const control of some) {
      const found = await runControl(options, built.library, control, tally)
      figures[`bad states with ${control.name}`] = found
    }
  }
  // A failed flush is noticed only after seconds, in which the others can run.
  await Promise.all([run(controls.filter(isFaulty)), run(controls.filter(c => !isFaulty(c)))])
  const { workloads } = sizes[options.size]
  for (let i = 0; i < workloads; i += 1) {
    await cutWorkload(options, built.library, options.seed + i, tally)
  }
  const counted = {
    'workloads recorded': workloads,
    'writes acknowledged in them': tally.acknowledged,
    'power-cut states opened': tally.states,
    'promises broken': counts.lost,
    'inconsistencies found': counts.inconsistent,
    'states that did not open': counts.refused + counts.died,
  }
  return { figures: { ...counted, ...figures }, failures: tally.failures }
}
