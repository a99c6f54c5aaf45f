/**
 * `kill -9` while events are delivered to two receivers, which are slow, refuse and cut off now and
 * then: each event of the audit log arrives at each, those about one token in their order, and who
 * tells messages apart by their `webhook-id` ends with exactly the log.
 *
 * Source: docs/interface.md, C18.4.
 * @module
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../support/until.ts'
import { isRunning, workerAfter, workersOf } from '../../support/worker-processes.ts'
import { freePort, startServer } from '../clients/server.ts'
import { faultsOf, hasAll, readExpected, skipAhead } from '../deliveries/compare.ts'
import { openWorld, startReady, untilTaken, writeWhile, type World } from '../deliveries/world.ts'
import { drawFrom, type Draw } from '../draw.ts'
import type { PartOptions, PartResult, Size } from '../part.ts'

interface Goal {
  /** Kills of the only process. */
  readonly single: number
  /** Servers of three workers; `workersEach` of these are killed, and then what watches. */
  readonly instances: number
  readonly workersEach: number
}

const goals: Readonly<Record<Size, Goal>> = {
  full: { single: 350, instances: 30, workersEach: 4 },
  short: { single: 8, instances: 2, workersEach: 2 },
}

const workers = 3
/** Kills of one vault, so that its log stays short enough to be compared. */
const killsPerVault = 70
const instancesPerVault = 10
const startMsMax = 150
const takenMax = 200
/** A killed worker is followed by so many more messages. */
const takenAfter = 20
/** Entries that the control passes over. */
const skipped = 20

interface Totals {
  readonly kills: Record<'starting' | 'loaded' | 'worker' | 'watching', number>
  readonly failures: string[]
  readonly counts: Record<'again' | 'refused' | 'cut' | 'slow', number>
  writes: number
  events: number
}

async function killStarting({ home, draw }: World): Promise<void> {
  const server = startServer(home)
  await Bun.sleep(draw(startMsMax))
  await server.kill()
  await server.isReady
}

async function killLoaded(world: World, round: string): Promise<void> {
  const server = await startReady(world)
  await writeWhile(world, round, async () => {
    await untilTaken(world, 1 + world.draw(takenMax))
    await Bun.sleep(world.draw(4))
    await server.kill()
  })
}

/** Kills workers of a server one after the other, and then what watches them. */
async function killInstance(world: World, round: string, { kills }: Totals, each: number) {
  const server = await startReady(world)
  for (let count = 0; count < each; count += 1) {
    const index = world.draw(workers)
    const pid = workersOf(server.pid).get(index)
    if (pid === undefined) throw new Error(`worker ${index} does not run`)
    await writeWhile(world, `${round}.${count}`, async () => {
      await untilTaken(world, 1 + world.draw(takenMax))
      process.kill(pid, 'SIGKILL')
      await untilTaken(world, takenAfter, () => !isRunning(pid))
    })
    await workerAfter(server.pid, index, pid)
    kills.worker += 1
  }
  const pids = [...workersOf(server.pid).values()]
  await writeWhile(world, round, async () => {
    await untilTaken(world, 1 + world.draw(takenMax))
    await server.kill()
  })
  await until(() => !pids.some(isRunning))
  kills.watching += 1
}

/** Has everything delivered, and compares. @returns what is wrong */
async function settle(world: World, isWhole: () => boolean = () => true): Promise<string[]> {
  const server = await startReady(world)
  const expected = await readExpected(world)
  if (isWhole()) await until(() => world.hooks.every(hook => hasAll(hook, expected)))
  await server.stop()
  return world.hooks.flatMap(hook => [...faultsOf(hook, expected)])
}

async function close(world: World, totals: Totals): Promise<void> {
  totals.failures.push(...(await settle(world)))
  totals.writes += world.writes
  for (const { receiver } of world.hooks) {
    totals.events += receiver.taken.size
    for (const kind of ['again', 'refused', 'cut', 'slow'] as const) {
      totals.counts[kind] += receiver.counts[kind]
    }
  }
}

function end({ home, hooks }: World): void {
  for (const { receiver } of hooks) receiver[Symbol.dispose]()
  rmSync(home.data, { recursive: true })
}

/**
 * Writes down that events were delivered before they were, as a vault would that saves too early:
 * a comparison that finds nothing here would find nothing at all.
 */
async function findSkipped(world: World): Promise<number> {
  const [hook] = world.hooks
  if (hook === undefined) return 0
  await skipAhead(world, hook, skipped)
  const server = await startReady(world)
  await writeWhile(world, 'control', () => untilTaken(world, takenMax))
  await server.stop()
  return (await settle(world, () => false)).filter(each => each.includes('did not arrive')).length
}

async function killSingle(options: PartOptions, totals: Totals, draw: Draw): Promise<number> {
  const { single } = goals[options.size]
  let missing = 0
  for (let done = 0; done < single; done += killsPerVault) {
    const world = await openWorld(join(options.folder, `single-${done}`), draw)
    for (let at = done; at < Math.min(single, done + killsPerVault); at += 1) {
      const isEarly = draw(10) === 0
      if (isEarly) await killStarting(world)
      else await killLoaded(world, `k${at}`)
      totals.kills[isEarly ? 'starting' : 'loaded'] += 1
    }
    await close(world, totals)
    options.say(`${Math.min(single, done + killsPerVault)} kills of ${single}`)
    if (done === 0) missing = await findSkipped(world)
    end(world)
  }
  return missing
}

async function killShared(options: PartOptions, totals: Totals, draw: Draw): Promise<void> {
  const { instances, workersEach } = goals[options.size]
  for (let done = 0; done < instances; done += instancesPerVault) {
    const shared = { port: await freePort(), workers }
    const world = await openWorld(join(options.folder, `shared-${done}`), draw, shared)
    for (let at = done; at < Math.min(instances, done + instancesPerVault); at += 1) {
      await killInstance(world, `w${at}`, totals, workersEach)
    }
    await close(world, totals)
    end(world)
    options.say(`${Math.min(instances, done + instancesPerVault)} servers of three workers`)
  }
}

/** The part `deliveries`. */
export async function killDeliveries(options: PartOptions): Promise<PartResult> {
  if (process.platform !== 'linux') return { figures: {}, failures: [], skipped: 'only on Linux' }
  const draw = drawFrom(options.seed)
  const totals: Totals = {
    kills: { starting: 0, loaded: 0, worker: 0, watching: 0 },
    failures: [],
    counts: { again: 0, refused: 0, cut: 0, slow: 0 },
    writes: 0,
    events: 0,
  }
  const missing = await killSingle(options, totals, draw)
  await killShared(options, totals, draw)
  if (missing === 0) totals.failures.push('the control found no event missing')
  const { starting, loaded, worker, watching } = totals.kills
  const { again, refused, cut, slow } = totals.counts
  const figures = {
    kills: starting + loaded + worker + watching,
    'kills during start-up': starting,
    'kills under load': loaded,
    'kills of a worker': worker,
    'kills of what watches': watching,
    'writes that were answered': totals.writes,
    'events that arrived, at both receivers': totals.events,
    'messages that arrived again': again,
    'answers with 500, slow, cut off': `${refused}, ${slow}, ${cut}`,
    'control: events missing where the state was ahead': missing,
  }
  return { figures, failures: totals.failures }
}
