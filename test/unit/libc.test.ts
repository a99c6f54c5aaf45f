/**
 * Calls of the C library.
 * @module
 */
import { expect, test } from 'bun:test'
import { FFIType } from 'bun:ffi'
import { findInLibc } from '../../src/lib/libc.ts'

const getpid = { args: [], returns: FFIType.i32 } as const

test('a function of the C library is found and called; one that is not there is not', () => {
  expect(findInLibc({ getpid })?.getpid()).toBe(process.pid)
  expect(findInLibc({ getpid, no_such_function: getpid })).toBeUndefined()
})
