/**
 * Cost of a request on the server, from the kernel's accounting: processor time and written pages
 * vary less than a rate, since other work on the machine does not count.
 * @module
 */
import { readFileSync } from 'node:fs'
import type { Load, LoadResult } from './load.ts'
import type { Bench } from './scenario.ts'
import type { Server } from './servers.ts'

/** Tick of the kernel's accounting; proc(5). */
const tickMs = 10

/** User and system time of all threads of a process. */
function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14)
  return tickMs * (Number(user) + Number(system))
}

/** Page size of the engine's file. */
const pageBytes = 4_096

/**
 * Returns the pages that a process has written, nearly all of them pages of the engine: answers
 * leave by send(2), which does not count. `write_bytes` would count a whole folio of the page cache
 * for each written page, since Linux 6.16 on ext4. Source: proc(5).
 */
const writtenPages = (pid: number): number =>
  Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1]) / pageBytes

/** Runs a load on a server. @returns also the server's cost of one request */
export async function runOn(
  { loads }: Pick<Bench, 'loads'>,
  { address, pid }: Server,
  load: Omit<Load, 'address'>,
): Promise<LoadResult> {
  const beforeMs = processorMs(pid)
  const before = writtenPages(pid)
  const result = await loads.run({ ...load, address })
  const processorUs = (1_000 * (processorMs(pid) - beforeMs)) / result.requests
  const pages = (writtenPages(pid) - before) / result.requests
  return { ...result, processorUs, pages }
}
