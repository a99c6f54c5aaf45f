/**
 * Faults of the server meanwhile: it is killed and started again, or stopped for a while.
 * @module
 */
import { startServer, type Home, type Server } from '../crash/clients/server.ts'
import type { Draw } from '../crash/draw.ts'
import type { Fault } from './plan.ts'
import { workerAfter, workersOf } from '../support/worker-processes.ts'

/** One process, or one that watches over workers; the latest of those started. */
export interface Host {
  readonly home: Home
  server: Server
}

const stopMsMin = 100
const stopMsMax = 500

export async function startHost(home: Home): Promise<Host> {
  const server = startServer(home)
  await server.isReady
  return { home, server }
}

const workerPids = ({ server }: Host): number[] => [...workersOf(server.pid).values()]

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended meanwhile.
  }
}

/** Kills the process that clients talk to, or the one above it; with all others, or alone. */
async function killAll(host: Host, draw: Draw): Promise<void> {
  const workers = draw(2) === 0 ? workerPids(host) : []
  for (const pid of workers) signal(pid, 'SIGKILL')
  await host.server.kill()
  host.server = startServer(host.home)
  await host.server.isReady
}

async function killWorker(host: Host, draw: Draw): Promise<void> {
  const workers = [...workersOf(host.server.pid)]
  const [index, pid] = workers[draw(workers.length)] ?? []
  if (index === undefined || pid === undefined) throw new Error('no worker runs')
  signal(pid, 'SIGKILL')
  await workerAfter(host.server.pid, index, pid)
}

/** Stops one process of the server, or all of them. */
async function stopSome(host: Host, draw: Draw): Promise<void> {
  const all = [host.server.pid, ...workerPids(host)]
  const one = all[all.length > 1 ? 1 + draw(all.length - 1) : 0] ?? host.server.pid
  const stopped = draw(2) === 0 ? all : [one]
  for (const pid of stopped) signal(pid, 'SIGSTOP')
  await Bun.sleep(stopMsMin + draw(stopMsMax - stopMsMin))
  for (const pid of stopped) signal(pid, 'SIGCONT')
}

export function strike(host: Host, fault: Fault, draw: Draw): Promise<void> {
  if (fault === 'stop') return stopSome(host, draw)
  const isShared = host.home.shared !== undefined
  return isShared && draw(2) === 0 ? killWorker(host, draw) : killAll(host, draw)
}

/** Ends all of it, whatever it was in the middle of. */
export async function endHost(host: Host): Promise<void> {
  for (const pid of [host.server.pid, ...workerPids(host)]) signal(pid, 'SIGCONT')
  await host.server.stop('SIGKILL')
}
