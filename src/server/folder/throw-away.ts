/**
 * The folder of a temporary vault, and the program that started it.
 * @module
 */
import { closeSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parentCheckMs, throwAwayAgeMsMin } from '../../limits/operation-limits.ts'
import { lockInstance, noWait } from './instance-lock.ts'
import { elapsedMs, sleep, wallMs } from '../process/system.ts'

const prefix = 'coffer-dev-'

export interface ThrowAway {
  readonly path: string
  readonly remove: () => void
}

/** The folder is locked while this process uses it, so that others leave it alone. */
export function makeThrowAway(): ThrowAway {
  const path = mkdtempSync(join(tmpdir(), prefix))
  const lock = lockInstance(join(path, 'lock'), { elapsedMs, sleep })
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true })
      closeSync(lock)
    },
  }
}

function isLeft(folder: string): boolean {
  const stats = lstatSync(folder)
  const isOwn = stats.isDirectory() && stats.uid === process.geteuid?.()
  if (!isOwn || wallMs() - stats.mtimeMs < throwAwayAgeMsMin) return false
  closeSync(lockInstance(join(folder, 'lock'), noWait))
  return true
}

/** Removes folders of killed processes; those that cannot be inspected stay. */
export function sweepThrownAway(): void {
  for (const name of readdirSync(tmpdir()).filter(each => each.startsWith(prefix))) {
    const folder = join(tmpdir(), name)
    try {
      if (isLeft(folder)) rmSync(folder, { recursive: true })
    } catch {
      // Another process uses it, or has just removed it.
    }
  }
}

const hangUp = 1n

/** True if this process is meant to outlive its parent, as with `nohup`. Source: proc(5). */
export function outlivesParent(): boolean {
  try {
    const status = readFileSync('/proc/self/status', 'latin1')
    const ignored = BigInt(`0x${/^SigIgn:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
    return (ignored & hangUp) !== 0n
  } catch {
    return false
  }
}

const init = 1

/**
 * Resolves when the program that started this process ends; never if there is none. The kernel's
 * signal (prctl(2), PR_SET_PDEATHSIG) would come as soon as the thread that started this process
 * ends, so the parent is polled.
 */
export function parentEnd(): Promise<void> {
  const parent = process.ppid
  if (parent <= init) return new Promise(() => {})
  return new Promise(resolve => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(timer)
      resolve()
    }, parentCheckMs)
    timer.unref()
  })
}
