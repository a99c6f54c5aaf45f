/**
 * Finds the process that holds the lock of a file, as the kernel reports it.
 *
 * Source: proc(5), `/proc/locks` and `/proc/PID/cmdline`; absent on other platforms.
 * @module
 */
import { readFileSync, statSync } from 'node:fs'

/** The first words of a command line name the command: later ones may be paths or values. */
const commandWordsMax = 2
const commandWord = /^[a-z][a-z-]*$/

/** As the kernel prints a device: `fe:00`. Source: `gnu_dev_major` and `gnu_dev_minor` of glibc. */
function deviceOf(dev: bigint): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn)
  return [major, minor].map(part => part.toString(16).padStart(2, '0')).join(':')
}

/** Command of a process, such as `coffer keys rotate`; `undefined` if it cannot be read. */
function commandOf(pid: number): string | undefined {
  try {
    const [, ...words] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const begin = words.findIndex(word => commandWord.test(word))
    const rest = words.slice(begin)
    const end = rest.findIndex(word => !commandWord.test(word))
    const named = rest.slice(0, Math.min(commandWordsMax, end))
    return begin < 0 || named.length === 0 ? undefined : `coffer ${named.join(' ')}`
  } catch {
    return undefined
  }
}

/** Id of the process that holds a lock; 0 if it cannot be seen from here. */
function findLock(path: string): number | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    const file = `${deviceOf(dev)}:${ino}`
    const held = readFileSync('/proc/locks', 'latin1')
      .split('\n')
      .map(line => line.trim().split(/\s+/))
      .find(([, kind, , , , place]) => kind === 'FLOCK' && place === file)
    return held === undefined ? undefined : Number(held[4])
  } catch {
    return undefined
  }
}

/** True if the kernel reports a lock on a file or folder; false on other platforms. */
export const isLocked = (path: string): boolean => findLock(path) !== undefined

/**
 * @param path of a file or folder that is locked by flock(2)
 * @returns such as `coffer serve, process 4711`; `undefined` if nobody holds it, or if the holder
 *   cannot be seen, as in another container
 */
export function lockHolder(path: string): string | undefined {
  const pid = findLock(path) ?? 0
  if (pid <= 0) return undefined
  return [commandOf(pid), `process ${pid}`].filter(part => part !== undefined).join(', ')
}
