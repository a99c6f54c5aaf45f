/**
 * Workers of a running instance, as the kernel shows them: their processes, and the connections of
 * each.
 * @module
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './until.ts'

const established = '01'

function childrenOf(parent: number): number[] {
  try {
    return readdirSync(`/proc/${parent}/task`).flatMap(task =>
      readFileSync(`/proc/${parent}/task/${task}/children`, 'latin1')
        .split(' ')
        .filter(pid => pid !== '')
        .map(Number),
    )
  } catch {
    // It has ended meanwhile.
    return []
  }
}

/** Returns `undefined` for a process that is gone, or is no worker yet. */
function indexOf(pid: number): number | undefined {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
    const index = /\0worker\0(\d+)\0$/.exec(command)?.[1]
    return index === undefined ? undefined : Number(index)
  } catch {
    return undefined
  }
}

/** Returns the process of each worker by its index. @param parent the process that started them */
export function workersOf(parent: number): Map<number, number> {
  const workers = new Map<number, number>()
  for (const pid of childrenOf(parent)) {
    const index = indexOf(pid)
    if (index !== undefined) workers.set(index, pid)
  }
  return workers
}

/**
 * Returns the process of one worker, to signal it: a signal to process 0 would reach all tests.
 * @throws Error if it does not run
 */
export function workerOf(parent: number, index: number): number {
  const pid = workersOf(parent).get(index)
  if (pid === undefined) throw new Error(`worker ${index} does not run`)
  return pid
}

/** A process that ended but is not reaped yet counts as ended. */
export function isRunning(pid: number): boolean {
  try {
    const state = /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    return state !== 'Z' && state !== 'X'
  } catch {
    return false
  }
}

/** Returns the process that replaced an ended one. */
export async function workerAfter(parent: number, index: number, before: number): Promise<number> {
  await until(() => ![undefined, before].includes(workersOf(parent).get(index)))
  return workersOf(parent).get(index) ?? before
}

/** Returns the open files of a process: paths, and names like `socket:[7]`. */
export function openFilesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).flatMap(file => {
    try {
      return [readlinkSync(join(folder, file))]
    } catch {
      // A descriptor may close during the listing.
      return []
    }
  })
}

function socketsOf(pid: number): Set<string> {
  return new Set(openFilesOf(pid).flatMap(file => /^socket:\[(\d+)\]$/.exec(file)?.[1] ?? []))
}

/** Returns the number of a process's connections to a port. */
export function countConnections(pid: number, port: number): number {
  const sockets = socketsOf(pid)
  const portText = port.toString(16).toUpperCase().padStart(4, '0')
  const lines = readFileSync(`/proc/${pid}/net/tcp`, 'latin1').split('\n').slice(1)
  return lines.filter(line => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
    return local.endsWith(`:${portText}`) && state === established && sockets.has(inode)
  }).length
}
