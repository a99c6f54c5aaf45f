/**
 * Processes that wait for the engine's lock: those that share a store wait for each other there.
 *
 * If a process is killed between being woken and taking the lock, others may sleep on though it is
 * free: the process that took it in between knows of no waiter and wakes none, and the kernel wakes
 * one only if it finds a dead holder or no holder. A process woken for nothing checks the lock and
 * sleeps on, now known to the holder. Linux only. Source: `pthread_mutex_lock.c` of glibc 2.36
 * (robust mutexes); `handle_futex_death` of the kernel.
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { join } from 'node:path'
import { findInLibc } from '../../lib/libc.ts'

/** The engine's locks are in the head of its file, before the table of readers. */
const headBytes = 4_096
const wordBytes = 4

/** Numbers of the system call. Source: syscall(2), futex(2). */
const futexNumbers: Partial<Record<NodeJS.Architecture, bigint>> = { x64: 202n, arm64: 98n }
/** Source: futex(2), FUTEX_WAKE. */
const futexWake = 1
const everyWaiter = 0x7fff_ffff

const syscall = {
  args: [FFIType.i64, FFIType.u64, FFIType.i32, FFIType.i32],
  returns: FFIType.i64,
} as const

function mapHead(folder: string): Uint8Array | undefined {
  try {
    return Bun.mmap(join(folder, 'lock.mdb'), { shared: true, size: headBytes })
  } catch {
    return undefined
  }
}

/**
 * Never call the waker in a process that has the store open: closing the file would release the
 * engine's locks on it. Source: fcntl(2), F_SETLK.
 * @param folder  of the store, even one that does not exist yet
 * @returns a function that wakes every process waiting for a lock of the store, for use after a
 *   process with the store is gone; does nothing if the file or the system call is missing
 */
export function makeLockWaker(folder: string): () => void {
  const futex = futexNumbers[process.arch]
  const libc = findInLibc({ syscall })
  return () => {
    const head = mapHead(folder)
    if (head === undefined || head.length < headBytes) return
    const start = ptr(head)
    // Not `headBytes`: using `head` here keeps it from being collected, and so mapped.
    for (let offset = 0; offset < head.length; offset += wordBytes) {
      if (futex !== undefined) libc?.syscall(futex, start + offset, futexWake, everyWaiter)
    }
  }
}
