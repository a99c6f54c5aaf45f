/**
 * Full disks: writes are refused, reading and deleting go on, freed space is used without a
 * restart, and nothing acknowledged is lost.
 *
 * Source: hardening F5, D5, D9, L11.
 * @module
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { countSingle, breachesOf } from '../clients/figures.ts'
import { mountDisk, type Disk, type DiskKind } from '../disk-full/disk.ts'
import {
  fillAtOnce,
  fillByWrites,
  fillNames,
  runOn,
  type Outcome,
  type Run,
} from '../disk-full/runs.ts'
import type { PartOptions, PartResult, Size } from '../part.ts'

const runs: Readonly<Record<Size, number>> = { full: 100, short: 3 }

const diskKinds: readonly DiskKind[] = ['tmpfs', 'ext4']

/** Repeated in this order. */
const kinds: readonly (readonly [string, Run])[] = [
  ['filled by writes', fillByWrites],
  ['filled at once by another program', fillAtOnce],
  ['without room for another file', fillNames],
  ['filled by writes', fillByWrites],
  ['filled at once by another program', fillAtOnce],
]

/** Signals that end the engine if it corrupts its memory, or reads memory that it does not have. */
const nativeAborts: ReadonlySet<string> = new Set([
  'SIGABRT',
  'SIGSEGV',
  'SIGBUS',
  'SIGILL',
  'SIGTRAP',
  'SIGFPE',
])

interface Totals {
  readonly byKind: Map<string, number>
  acknowledged: number
  refused: number
  ended: number
  aborted: number
  recoveryMs: number
  readonly failures: string[]
}

function addOutcome(totals: Totals, { recoveryMs, ended, failures }: Outcome): void {
  totals.recoveryMs = Math.max(totals.recoveryMs, recoveryMs)
  totals.failures.push(...failures)
  if (ended === undefined) return
  totals.ended += 1
  if (!nativeAborts.has(ended.signal ?? '')) return
  totals.aborted += 1
  totals.failures.push(`ended by ${ended.signal}: ${ended.stderr.slice(0, 500)}`)
}

async function runOnce(totals: Totals, options: PartOptions, count: number): Promise<void> {
  const folder = join(options.folder, String(count))
  mkdirSync(folder)
  const [name, run] = kinds[count % kinds.length] ?? ['', fillByWrites]
  const disk = mountDisk(diskKinds[count % diskKinds.length] ?? 'tmpfs', folder)
  try {
    const { scene, outcome } = await runOn(run, disk, options.seed + count, folder)
    totals.byKind.set(name, (totals.byKind.get(name) ?? 0) + 1)
    totals.acknowledged += countSingle(scene.ledger)
    totals.refused += scene.ledger.answered.get(507) ?? 0
    addOutcome(totals, outcome)
    totals.failures.push(...breachesOf(scene.ledger).map(what => `${name}: ${what}`))
  } finally {
    disk.unmount()
  }
}

/** Reason why no disk can be mounted; `undefined` if every kind can. */
function findObstacle(folder: string): string | undefined {
  for (const kind of diskKinds) {
    let disk: Disk | undefined
    try {
      disk = mountDisk(kind, folder)
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      disk?.unmount()
    }
  }
  return undefined
}

/** The part `disk-full`. */
export async function fillDisk(options: PartOptions): Promise<PartResult> {
  const skipped = findObstacle(options.folder)
  if (skipped !== undefined) return { figures: {}, failures: [], skipped }
  const counts = { acknowledged: 0, refused: 0, ended: 0, aborted: 0, recoveryMs: 0 }
  const totals: Totals = { byKind: new Map(), failures: [], ...counts }
  for (let count = 0; count < runs[options.size]; count += 1) {
    await runOnce(totals, options, count)
    if ((count + 1) % 10 === 0) options.say(`${count + 1} runs, ${totals.failures.length} failures`)
  }
  const byKind = [...totals.byKind].map(([name, count]) => [`runs: ${name}`, count])
  const figures = {
    ...Object.fromEntries(byKind),
    'acknowledged writes': totals.acknowledged,
    'refused for want of space': totals.refused,
    'breaches and failures': totals.failures.length,
    'ended by itself': totals.ended,
    'native aborts': totals.aborted,
    'longest recovery, ms': Math.round(totals.recoveryMs),
  }
  return { figures, failures: totals.failures }
}
