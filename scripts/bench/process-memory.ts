/**
 * Memory of a process without the page cache: `RssAnon` of Linux.
 *
 * The database is mapped, so its pages count as resident once read; the kernel can take them back,
 * so they are left out.
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'

const kibibyte = 1_024

export const canReadMemory = (): boolean => existsSync('/proc/self/status')

/** In MB of 10^6 bytes. */
export function anonymousMb(pid: number): number {
  const found = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (found === undefined) throw new Error('the kernel does not tell RssAnon')
  return (Number(found) * kibibyte) / 1e6
}

/** Samples until it is stopped. @returns the highest sample */
export function watchMemory(pid: number): () => number {
  let most = 0
  const look = (): void => {
    most = Math.max(most, anonymousMb(pid))
  }
  const timer = setInterval(look, 50)
  return () => {
    clearInterval(timer)
    look()
    return most
  }
}
