/**
 * `kill -9` of one worker among several, and of the process that watches over them, under load:
 * nothing acknowledged is lost, the others go on, the killed one is replaced and leaves no reader.
 *
 * Source: docs/decisions.md, "Beyond one machine"; hardening L13, L25.
 * @module
 */
import { breachesOf, ledgerFigures, readyFigures } from '../clients/figures.ts'
import { findDamage } from '../clients/integrity.ts'
import {
  check,
  load,
  openScene,
  startToReady,
  untilAcknowledged,
  useScene,
  type Scene,
} from '../clients/scene.ts'
import { freePort, type Server } from '../clients/server.ts'
import { until } from '../../support/until.ts'
import { isRunning, workerAfter, workersOf } from '../../support/worker-processes.ts'
import { countReaders } from '../workers/readers.ts'
import type { PartOptions, PartResult, Size } from '../part.ts'

interface Goal {
  /** Kills of the watching process, each after `workersEach` kills of workers. */
  readonly instances: number
  readonly workersEach: number
}

const goals: Readonly<Record<Size, Goal>> = {
  full: { instances: 30, workersEach: 6 },
  short: { instances: 2, workersEach: 5 },
}

const workers = 3
const writesMax = 300
/** Writes that the remaining workers acknowledge after a kill. */
const writesAfter = 50

interface Totals {
  workers: number
  instances: number
  /** Killed workers that had a reader slot at that moment. */
  readers: number
  readonly restartMs: number[]
  readonly failures: string[]
}

/** Kills one worker under load, which goes on, and waits for its replacement. */
async function killWorker(scene: Scene, totals: Totals, server: Server): Promise<void> {
  const { draw, home } = scene
  const index = draw(workers)
  const pid = workersOf(server.pid).get(index)
  if (pid === undefined) {
    totals.failures.push(`worker ${index} does not run`)
    return
  }
  const ends = async (): Promise<void> => {
    await untilAcknowledged(scene, 1 + draw(writesMax))
    await Bun.sleep(draw(4))
  }
  const stop = async (): Promise<void> => {
    if (countReaders(home.data, pid) > 0) totals.readers += 1
    process.kill(pid, 'SIGKILL')
    await untilAcknowledged(scene, writesAfter)
  }
  await load(scene, { ends, stop })
  const killedMs = performance.now()
  const next = await workerAfter(server.pid, index, pid)
  await until(() => countReaders(home.data, next) > 0)
  totals.restartMs.push(performance.now() - killedMs)
  totals.workers += 1
  if (countReaders(home.data, pid) > 0) totals.failures.push('a killed worker is still a reader')
}

/** Kills the watching process under load: its workers end with it. */
async function killInstance(scene: Scene, totals: Totals, server: Server): Promise<void> {
  const pids = [...workersOf(server.pid).values()]
  if (pids.length !== workers) totals.failures.push(`${pids.length} workers run`)
  const ends = () => untilAcknowledged(scene, scene.draw(writesMax))
  await load(scene, { ends, stop: () => server.kill() })
  await until(() => !pids.some(isRunning))
  totals.instances += 1
}

async function runInstance(scene: Scene, totals: Totals, workersEach: number): Promise<void> {
  const server = await startToReady(scene)
  await check(scene, false)
  for (let count = 0; count < workersEach; count += 1) {
    await killWorker(scene, totals, server)
    await check(scene, false)
  }
  await killInstance(scene, totals, server)
}

async function runCampaign(scene: Scene, { size, say }: PartOptions): Promise<PartResult> {
  const { instances, workersEach } = goals[size]
  const totals: Totals = { workers: 0, instances: 0, readers: 0, restartMs: [], failures: [] }
  for (let count = 0; count < instances; count += 1) {
    await runInstance(scene, totals, workersEach)
    if ((count + 1) % 10 === 0) say(`${count + 1} instances`)
  }
  const server = await startToReady(scene)
  await check(scene, true)
  const { exitCode, stderr } = await server.stop()
  if (exitCode !== 0) totals.failures.push(`exit code ${exitCode} after SIGTERM: ${stderr}`)
  if (totals.readers === 0) totals.failures.push('no killed worker was seen to be a reader')
  const figures = {
    'kills of a worker': totals.workers,
    'kills of the process that watches': totals.instances,
    'killed workers that were seen to be readers': totals.readers,
    'longest until a killed worker was replaced, ms': Math.round(Math.max(...totals.restartMs)),
    ...ledgerFigures(scene.ledger),
    ...readyFigures(scene.readyMs),
  }
  const damage = await findDamage(scene.home.data)
  return { figures, failures: [...breachesOf(scene.ledger), ...totals.failures, ...damage] }
}

/** The part `workers`. */
export async function killWorkers(options: PartOptions): Promise<PartResult> {
  if (process.platform !== 'linux') return { figures: {}, failures: [], skipped: 'only on Linux' }
  const shared = { port: await freePort(), workers }
  const scene = await openScene(options.seed, options.folder, undefined, shared)
  return useScene(scene, () => runCampaign(scene, options))
}
