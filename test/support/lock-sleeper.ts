/**
 * Sleeps on a word of a file's first page, as the engine does on its lock, until it is woken: `bun
 * lock-sleeper.ts FILE OFFSET`. Exits with 0 when it was, and with 1 after a minute. Source:
 * futex(2).
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { findInLibc } from '../../src/lib/libc.ts'

const [file = '', offset = '0'] = process.argv.slice(2)
const futexWait = 0
const patience = new BigInt64Array([60n, 0n])

const libc = findInLibc({
  syscall: {
    args: [FFIType.i64, FFIType.u64, FFIType.i32, FFIType.i32, FFIType.u64],
    returns: FFIType.i64,
  },
})
const map = Bun.mmap(file, { shared: true })
const value = new DataView(map.buffer, map.byteOffset).getInt32(Number(offset), true)
const number = process.arch === 'x64' ? 202n : 98n
const answer = libc?.syscall(number, ptr(map) + Number(offset), futexWait, value, ptr(patience))
process.exitCode = Number(answer) === 0 ? 0 : 1
