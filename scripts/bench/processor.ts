/**
 * Processor time of a server, from the kernel's accounting: it wobbles less than a rate does, since
 * it leaves out what else the machine does.
 * @module
 */
import { readFileSync } from 'node:fs'
import type { Load, LoadResult } from './load.ts'
import type { Bench } from './scenario.ts'
import type { Server } from './servers.ts'

/** Of the kernel's accounting; proc(5). */
const tickMs = 10

/** User and system time of all threads of a process. */
function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14)
  return tickMs * (Number(user) + Number(system))
}

/** Runs a load on a server. @returns also the processor time that a request takes there */
export async function runOn(
  { loads }: Pick<Bench, 'loads'>,
  { address, pid }: Server,
  load: Omit<Load, 'address'>,
): Promise<LoadResult> {
  const beforeMs = processorMs(pid)
  const result = await loads.run({ ...load, address })
  const processorUs = (1_000 * (processorMs(pid) - beforeMs)) / result.requests
  return { ...result, processorUs }
}
