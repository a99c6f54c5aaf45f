/**
 * Who waits for the engine's lock: several processes on one store wait for each other there.
 *
 * A process that is killed between being woken and taking the lock may leave others asleep though
 * it is free: the one that took it in between knows of none that waits and wakes none, and the
 * kernel does so only where it finds a dead holder or no holder. Who is woken for nothing looks at
 * the lock, and sleeps on as one that its holder knows of. Only for Linux.
 * Source: futex(2), FUTEX_WAKE; `pthread_mutex_lock.c` of glibc 2.36 (robust mutexes);
 * `handle_futex_death` of the kernel.
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { join } from 'node:path'
import { findInLibc } from '../../lib/libc.ts'

/** The engine's locks are in the head of its file, in front of the table of readers. */
const headBytes = 4_096
const wordBytes = 4

const futexNumbers: Partial<Record<NodeJS.Architecture, bigint>> = { x64: 202n, arm64: 98n }
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
 * @param folder  where the store is, or will be
 * @returns what wakes every process that sleeps in front of a lock of that store, to be called when
 *   one that used it is gone; it does nothing where there is no such file or no such call. Never
 *   in a process that has the store open: to close the file lets go of the engine's locks on it.
 *   Source: fcntl(2), F_SETLK.
 */
export function makeLockWaker(folder: string): () => void {
  const futex = futexNumbers[process.arch]
  const libc = findInLibc({ syscall })
  return () => {
    const head = mapHead(folder)
    if (head === undefined || head.length < headBytes) return
    const start = ptr(head)
    // Not the constant: what is used here is not collected, and stays mapped.
    for (let offset = 0; offset < head.length; offset += wordBytes) {
      if (futex !== undefined) libc?.syscall(futex, start + offset, futexWake, everyWaiter)
    }
  }
}
