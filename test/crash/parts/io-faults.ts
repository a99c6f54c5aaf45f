/**
 * A disk that fails: the Nth sync, page write and meta write, once and for good, for N from 1 until
 * the workload ends before the fault; faults upon faults; and answers that wait for slow syncs.
 *
 * In each case nothing acknowledged is lost, and the server answers 503 or is gone within seconds.
 * Source: hardening D4, D9, D11.
 * @module
 */
import { join } from 'node:path'
import { drawFrom, type Draw } from '../draw.ts'
import { runCompound } from '../faults/compound-run.ts'
import { runFault } from '../faults/fault-run.ts'
import { findTracer, traceAnswers } from '../faults/trace-answers.ts'
import { makeVaultFolder, type VaultFolder } from '../faults/vault-folder.ts'
import { buildRecorder, type Call, type Fault } from '../native/recorder.ts'
import type { Part, PartOptions } from '../part.ts'

const calls: readonly Call[] = ['sync', 'write', 'meta']
const compounds = { full: 30, short: 2 } as const
/** A short run does one of each kind, with N up to here: every workload has as many calls. */
const drawnNthMax = 5
/** No workload has so many calls: if one does not end, the harness is at fault. */
const nthMax = 1_000

interface Harness {
  readonly options: PartOptions
  readonly library: string
  readonly made: VaultFolder
  readonly draw: Draw
  readonly failures: string[]
  readonly counts: {
    met: number
    acknowledged: number
    nativeAborts: number
    slowestMs: number
  }
}

type Mode = Pick<Fault, 'call' | 'errno' | 'isSticky'>

const modes: readonly Mode[] = calls.flatMap(call =>
  (['EIO', 'ENOSPC'] as const).flatMap(errno =>
    [false, true].map(isSticky => ({ call, errno, isSticky })),
  ),
)

/** @returns true if the workload reached the fault */
async function meetFault(harness: Harness, fault: Fault): Promise<boolean> {
  const { options, library, made, failures, counts } = harness
  const folder = join(options.folder, 'fault')
  const run = await runFault({ library, folder, made, fault })
  failures.push(...run.failures)
  counts.acknowledged += run.acknowledged
  counts.slowestMs = Math.max(counts.slowestMs, run.slowestMs)
  if (run.isMet) counts.met += 1
  if (run.isNativeAbort) counts.nativeAborts += 1
  return run.isMet
}

async function meetEveryFault(harness: Harness, mode: Mode): Promise<void> {
  let nth = 1
  while (nth < nthMax && (await meetFault(harness, { ...mode, nth }))) nth += 1
  const { call, errno, isSticky } = mode
  const kind = `${call}, ${errno}, ${isSticky ? 'for good' : 'once'}`
  harness.options.say(`${kind}: met ${nth - 1} times, each at the next call`)
}

const meetOneFault = async (harness: Harness, mode: Mode): Promise<void> => {
  await meetFault(harness, { ...mode, nth: 1 + harness.draw(drawnNthMax) })
}

async function compoundFaults({ options, failures, counts, ...rest }: Harness): Promise<number> {
  const runs = compounds[options.size]
  for (let count = 0; count < runs; count += 1) {
    const folder = join(options.folder, `compound-${count}`)
    const run = await runCompound({ ...rest, folder })
    counts.acknowledged += run.acknowledged
    failures.push(...run.failures)
  }
  return runs
}

async function countTraced({ options, made, failures }: Harness): Promise<string | number> {
  const untraceable = findTracer()
  if (untraceable !== undefined) return `none: ${untraceable.missing}`
  const traced = await traceAnswers({ folder: join(options.folder, 'trace'), made })
  failures.push(...traced.failures)
  return traced.answers
}

export const failDisk: Part = async options => {
  const built = buildRecorder(options.folder)
  if ('missing' in built) return { figures: {}, failures: [], skipped: built.missing }
  const harness: Harness = {
    options,
    library: built.library,
    made: await makeVaultFolder(options.folder),
    draw: drawFrom(options.seed),
    failures: [],
    counts: { met: 0, acknowledged: 0, nativeAborts: 0, slowestMs: 0 },
  }
  const meet = options.size === 'full' ? meetEveryFault : meetOneFault
  for (const mode of modes) await meet(harness, mode)
  const { counts, failures } = harness
  const compound = await compoundFaults(harness)
  const traced = await countTraced(harness)
  const figures = {
    'calls made to fail': counts.met,
    'kills with a failing disk after them': compound,
    'writes acknowledged before': counts.acknowledged,
    'promises broken, wrong ends, hangs': failures.length,
    'ends by a native abort': counts.nativeAborts,
    'slowest answer or end, ms': Math.round(counts.slowestMs),
    'answers traced after a slow sync': traced,
  }
  return { figures, failures }
}
