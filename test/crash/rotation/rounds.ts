/**
 * One round: the keys of a vault under load are rotated, retired or put under another master key,
 * and a process at work on them is killed. Interrupted work must complete; retired keys must go.
 * @module
 */
import { until } from '../../support/until.ts'
import { workerAfter, workersOf } from '../../support/worker-processes.ts'
import { check, startToReady, untilAcknowledged, type Round, type Scene } from '../clients/scene.ts'
import { numbersOf, olderRowsOf, runKeys, startKeys, statusOf, type What } from './commands.ts'
import { countLeft, remember, type Memory, type Standing } from './keyrings.ts'
import { lookAtRemains } from './remains.ts'
import { loadAndSearch, type Steady } from './searches.ts'

/** Process that a kill hits. */
type Victim = 'server' | 'command' | 'command without a server' | 'worker' | 'watching process'

export interface Kind {
  readonly victim: Victim
  readonly what: Exclude<What, 'status'>
}

export const nameOf = ({ victim, what }: Kind): string => `kills of the ${victim}, ${what}`

interface Counts {
  cutOff: number
  amidReseal: number
  amidRekey: number
  unretired: number
  uncommitted: number
  receipts: number
  retired: number
}

export interface World {
  readonly scene: Scene
  readonly memory: Memory
  readonly steady: Steady
  readonly byKind: Map<string, number>
  readonly counts: Counts
  /** Milliseconds that each command took when nothing was killed. */
  readonly tookMs: Map<What, number>
  readonly failures: string[]
  /** Longest pause of a client between steps: on a busy server commands take many times as long. */
  readonly restMsMax: number
}

const writesMax = 200
const writesAfter = 60
/** A kill may also come when a command has just ended, or before it has done anything. */
const beyond = 1.1
const tookMsGuess = 400
/** One rotation in so many is two rotations at once. */
const twiceEvery = 4
/** Longer than a busy machine takes to seal all rows anew. */
const resealMsMax = 60_000

const load = ({ scene, steady, restMsMax }: World, round: Round): Promise<void> =>
  loadAndSearch(scene, steady, { restMsMax, ...round })

function fail({ scene, failures }: World, what: string): void {
  failures.push(`round ${scene.ledger.round}: ${what}`)
}

/** Runs a command to its end, without a kill; `undefined` if it failed. */
async function run(world: World, what: What): Promise<string | undefined> {
  const startMs = performance.now()
  const { exitCode, stdout, stderr } = await runKeys(world.scene.home, what)
  world.tookMs.set(what, performance.now() - startMs)
  if (exitCode === 0) return stdout
  fail(world, `keys ${what}: ${stderr}`)
  return undefined
}

interface Begun {
  readonly kill: () => void
  /** True if one of them did not run to its end. */
  readonly wasCutOff: () => Promise<boolean>
}

function begin({ scene }: World, { what }: Kind): Begun {
  const isTwice = what === 'rotate' && scene.draw(twiceEvery) === 0
  const commands = Array.from({ length: isTwice ? 2 : 1 }, () => startKeys(scene.home, what))
  return {
    kill: () => commands.forEach(command => command.kill()),
    async wasCutOff() {
      const ends = await Promise.all(commands.map(({ ended }) => ended))
      return ends.some(({ exitCode }) => exitCode !== 0)
    },
  }
}

/** Lets a started command run for a part of its usual time. */
const sleepAmid = ({ scene, tookMs }: World, { what }: Kind): Promise<void> =>
  Bun.sleep(scene.draw(Math.ceil((tookMs.get(what) ?? tookMsGuess) * beyond)))

/** Kills the worker that carries out commands. */
async function killWorker({ scene }: World): Promise<void> {
  const { pid: parent = 0 } = scene.server ?? {}
  const pid = workersOf(parent).get(0)
  if (pid === undefined) throw new Error('the first worker does not run')
  process.kill(pid, 'SIGKILL')
  await untilAcknowledged(scene, writesAfter)
  await workerAfter(parent, 0, pid)
}

const hits: Readonly<Record<Victim, (world: World, begun: Begun) => unknown>> = {
  server: ({ scene }) => scene.server?.kill(),
  'watching process': ({ scene }) => scene.server?.kill(),
  worker: killWorker,
  command: ({ scene }, begun) => {
    begun.kill()
    return untilAcknowledged(scene, writesAfter)
  },
  'command without a server': (_, begun) => begun.kill(),
}

async function killUnderLoad(world: World, kind: Kind): Promise<Begun> {
  const { scene } = world
  let begun: Begun | undefined
  const ends = async (): Promise<void> => {
    await untilAcknowledged(scene, 1 + scene.draw(writesMax))
    begun = begin(world, kind)
    await sleepAmid(world, kind)
  }
  const stop = async (): Promise<void> => {
    if (begun !== undefined) await hits[kind.victim](world, begun)
  }
  await load(world, { ends, stop })
  if (begun === undefined) throw new Error('the load ended by itself')
  return begun
}

async function killAlone(world: World, kind: Kind): Promise<Begun> {
  await world.scene.server?.stop()
  const begun = begin(world, kind)
  await sleepAmid(world, kind)
  begun.kill()
  return begun
}

/** Call it while no process of the vault runs. */
async function noteRemains({ memory, counts }: World): Promise<void> {
  const { olderRows, keys, hasNextMasterKey, uncommitted } = await lookAtRemains(memory)
  if (olderRows > 0) counts.amidReseal += 1
  if (olderRows === 0 && keys > 1) counts.unretired += 1
  if (hasNextMasterKey) counts.amidRekey += 1
  counts.uncommitted += uncommitted
}

/** Waits until no row is left under an older key, whatever was interrupted. */
async function untilResealed(world: World): Promise<Standing> {
  let standing: Standing = { masterNumber: 0, numbers: [] }
  const isDone = async (): Promise<boolean> => {
    const status = await statusOf(world.scene.home)
    if (status === undefined) return false
    standing = { masterNumber: status.master_key, numbers: numbersOf(status) }
    return olderRowsOf(status) === 0
  }
  await until(isDone, resealMsMax).catch(() => fail(world, 'rows are left under an older key'))
  return standing
}

interface Receipt {
  readonly keys: readonly unknown[]
  readonly rows_left: number
  readonly scrubbed: boolean
}

async function retire(world: World): Promise<void> {
  const { counts } = world
  const told = await run(world, 'retire')
  if (told === undefined) return
  const { keys, rows_left: rowsLeft, scrubbed } = JSON.parse(told) as Receipt
  if (!scrubbed || rowsLeft !== 0) fail(world, `the receipt says ${told}`)
  counts.receipts += 1
  counts.retired += keys.length
}

function expectNothingLeft(world: World, standing: Standing): void {
  const left = countLeft(world.memory, standing)
  if (left > 0) fail(world, `${left} pieces are left of keyrings with keys that are gone`)
}

/** Retires older keys, under load or not; they must be gone then, and stay gone. */
async function retireAll(world: World, before: Standing): Promise<void> {
  const { scene } = world
  if (scene.draw(2) === 0) await retire(world)
  else await load(world, { ends: () => retire(world) })
  const standing = { ...before, numbers: before.numbers.slice(-1) }
  expectNothingLeft(world, standing)
  await load(world, { ends: () => untilAcknowledged(scene, writesAfter) })
  expectNothingLeft(world, standing)
}

const survives: readonly Victim[] = ['command', 'worker']

/** Does one round with one kill. A server must run before it, and runs after it. */
export async function killOnce(world: World, kind: Kind): Promise<void> {
  const { scene, memory, byKind, counts } = world
  remember(memory)
  if (kind.what === 'retire') await run(world, 'rotate')
  const isAlone = kind.victim === 'command without a server'
  const begun = await (isAlone ? killAlone(world, kind) : killUnderLoad(world, kind))
  // A command that found no server has done the work by itself.
  if (await begun.wasCutOff()) counts.cutOff += 1
  if (!survives.includes(kind.victim)) {
    await noteRemains(world)
    await startToReady(scene)
  }
  byKind.set(nameOf(kind), (byKind.get(nameOf(kind)) ?? 0) + 1)
  await check(scene, false)
  await retireAll(world, await untilResealed(world))
}

/** Runs each command once without a kill, which shows how long it takes. */
export async function runThrough(world: World, whats: readonly What[]): Promise<void> {
  const { scene, memory } = world
  await startToReady(scene)
  remember(memory)
  for (const what of whats) await load(world, { ends: () => run(world, what) })
  await check(scene, false)
}
