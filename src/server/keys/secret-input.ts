/**
 * Secrets that a person types, or another program passes in an open file: as bytes that are wiped,
 * never as arguments, which every user of the machine can read.
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { ownBytes } from '../../lib/bytes.ts'
import { findInLibc } from '../../lib/libc.ts'
import { lockPollMs } from '../../limits/operation-limits.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { sleep } from '../process/system.ts'

const lineEnd = 0x0a
const carriageReturn = 0x0d
const interrupt = 0x03
const endOfInput = 0x04
const clearLine = 0x15
const erasing: readonly number[] = [0x08, 0x7f]

/** @returns `undefined` at the end of the file */
function readByte(file: number, into: Uint8Array): number | undefined {
  for (;;) {
    try {
      return readSync(file, into, 0, 1, null) === 0 ? undefined : into[0]
    } catch (error) {
      if (systemCodeOf(error) === 'EOF') return undefined
      // On a non-blocking pipe, the writer may not have written yet.
      if (systemCodeOf(error) !== 'EAGAIN') throw error
      sleep(lockPollMs)
    }
  }
}

/** A line that grows byte by byte. */
interface Line {
  readonly bytes: Buffer
  length: number
}

const tooLong = () => new CommandFailure('the line is longer than any that is expected here')

function put(line: Line, byte: number): void {
  if (line.length === line.bytes.length) throw tooLong()
  line.bytes[line.length] = byte
  line.length += 1
}

/** @returns true if the line continues; `undefined` if there is none */
function takeByte(line: Line, byte: number | undefined): boolean | undefined {
  if (byte === undefined && line.length === 0) return undefined
  if (byte === undefined || byte === lineEnd) return false
  put(line, byte)
  return true
}

/** Like `takeByte`, for a terminal in raw mode. @throws CommandFailure at Ctrl-C */
function takeKey(line: Line, key: number | undefined): boolean | undefined {
  if ((key === undefined || key === endOfInput) && line.length === 0) return undefined
  if (key === undefined || key === lineEnd || key === carriageReturn || key === endOfInput) {
    return false
  }
  if (key === interrupt) throw new CommandFailure('interrupted')
  if (erasing.includes(key)) line.length = Math.max(0, line.length - 1)
  else if (key === clearLine) line.length = 0
  else put(line, key)
  return true
}

function readWith(file: number, bytesMax: number, take: typeof takeByte): Uint8Array | undefined {
  const line: Line = { bytes: ownBytes(bytesMax), length: 0 }
  const one = ownBytes(1)
  try {
    for (;;) {
      const goesOn = take(line, readByte(file, one))
      if (goesOn === undefined) return undefined
      if (!goesOn) return line.bytes.subarray(0, line.length)
    }
  } catch (error) {
    line.bytes.fill(0)
    throw error
  } finally {
    one.fill(0)
  }
}

/**
 * Reads the next line of an open file, without its end, and leaves the rest unread.
 * @returns bytes that the caller wipes; `undefined` at the end of the file
 * @throws CommandFailure if the line is longer, or the file cannot be read
 */
export function readSecretLine(file: number, bytesMax: number): Uint8Array | undefined {
  try {
    const line = readWith(file, bytesMax, takeByte)
    return line?.at(-1) === carriageReturn ? line.subarray(0, -1) : line
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error
    throw new CommandFailure(`the open file ${file} cannot be read: say which one is to be`, 2)
  }
}

const settings = {
  tcgetattr: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  tcsetattr: { args: [FFIType.i32, FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  cfmakeraw: { args: [FFIType.ptr], returns: FFIType.void },
} as const
/** Larger than the terminal settings on any platform. */
const settingsBytes = 256

const noTerminal = () =>
  new CommandFailure('there is no terminal to ask at: hand it over by an open file', 2)

/** Source: termios(3). @throws CommandFailure if the terminal cannot hide the input */
function withoutEcho<T>(terminal: number, task: () => T): T {
  const libc = findInLibc(settings)
  const before = new Uint8Array(settingsBytes)
  if (libc === undefined || libc.tcgetattr(terminal, ptr(before)) !== 0) throw noTerminal()
  const raw = Uint8Array.from(before)
  libc.cfmakeraw(ptr(raw))
  if (libc.tcsetattr(terminal, 0, ptr(raw)) !== 0) throw noTerminal()
  try {
    return task()
  } finally {
    libc.tcsetattr(terminal, 0, ptr(before))
    writeSync(terminal, '\n')
  }
}

function openTerminal(): number {
  try {
    return openSync('/dev/tty', 'r+')
  } catch {
    throw noTerminal()
  }
}

/**
 * Asks at the terminal of this process, even if its input and output are redirected, and does not
 * show the input.
 * @returns bytes that the caller wipes; `undefined` at the end of input
 * @throws CommandFailure if there is no terminal, and at Ctrl-C
 */
export function askSecret(prompt: string, bytesMax: number): Uint8Array | undefined {
  const terminal = openTerminal()
  try {
    return withoutEcho(terminal, () => {
      // Echo is off before the prompt is shown, so that fast typing is hidden too.
      writeSync(terminal, prompt)
      return readWith(terminal, bytesMax, takeKey)
    })
  } finally {
    closeSync(terminal)
  }
}
