/**
 * What a process keeps in memory, without the page cache: `RssAnon` of Linux.
 *
 * The database is mapped, so pages of it that were read count as resident too; they are the
 * kernel's to take back, and are left out here.
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

/** Looks now and then until it is stopped. @returns the most that it saw */
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
