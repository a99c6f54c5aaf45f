/**
 * One kill after the other of what answers revealed reads: of the only process, of one worker of
 * three, of the process that watches them.
 * @module
 */
import { until } from '../../support/until.ts'
import { isRunning, workerAfter, workersOf } from '../../support/worker-processes.ts'
import { startServer, type Server } from '../clients/server.ts'
import { askWhile, untilAnswered, type Reveals } from './ask.ts'

export const workers = 3

export type KillKind =
  'during start-up' | 'right after ready' | 'under load' | 'of a worker' | 'of what watches'

/** A killed worker is followed by so many more answers of the others. */
const answersAfter = 20
const answersMax = 300
const earlyMsMax = 60
const startMsMax = 150

async function startToReady(reveals: Reveals): Promise<Server> {
  const server = startServer(reveals.home)
  await server.isReady
  return server
}

async function killStarting({ home, draw }: Reveals): Promise<KillKind> {
  const server = startServer(home)
  await Bun.sleep(draw(startMsMax))
  await server.kill()
  return (await server.isReady) ? 'right after ready' : 'during start-up'
}

async function killEarly(reveals: Reveals, round: string): Promise<KillKind> {
  const server = await startToReady(reveals)
  await askWhile(reveals, round, async () => {
    await Bun.sleep(reveals.draw(earlyMsMax))
    await server.kill()
  })
  return 'right after ready'
}

async function killLoaded(reveals: Reveals, round: string): Promise<KillKind> {
  const { draw } = reveals
  const server = await startToReady(reveals)
  await askWhile(reveals, round, async () => {
    await untilAnswered(reveals, draw(answersMax))
    await Bun.sleep(draw(4))
    await server.kill()
  })
  return 'under load'
}

/** Kills the only process once. */
export function killServer(reveals: Reveals, round: string): Promise<KillKind> {
  const share = reveals.draw(100)
  if (share < 10) return killStarting(reveals)
  return share < 25 ? killEarly(reveals, round) : killLoaded(reveals, round)
}

async function killWorker(reveals: Reveals, round: string, server: Server): Promise<void> {
  const { draw } = reveals
  const index = draw(workers)
  const pid = workersOf(server.pid).get(index)
  if (pid === undefined) throw new Error(`worker ${index} does not run`)
  await askWhile(reveals, round, async () => {
    await untilAnswered(reveals, draw(answersMax))
    await Bun.sleep(draw(4))
    process.kill(pid, 'SIGKILL')
    // The kernel may have given every connection to that worker.
    await untilAnswered(reveals, answersAfter, () => !isRunning(pid))
  })
  await workerAfter(server.pid, index, pid)
}

/** Kills workers of a server under load, each after a look, and then what watches them. */
export async function killInstance(
  reveals: Reveals,
  round: string,
  each: number,
  look: (kind: KillKind) => Promise<void>,
): Promise<void> {
  const server = await startToReady(reveals)
  for (let count = 0; count < each; count += 1) {
    await killWorker(reveals, `${round}.${count}`, server)
    await look('of a worker')
  }
  const pids = [...workersOf(server.pid).values()]
  await askWhile(reveals, round, async () => {
    await untilAnswered(reveals, reveals.draw(answersMax))
    await server.kill()
  })
  await until(() => !pids.some(isRunning))
  await look('of what watches')
}
