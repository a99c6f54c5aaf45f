/**
 * Writes lines in batches, in the background: no request waits for them.
 *
 * Lines that do not fit while the reader is slow are dropped, and a line reports how many were.
 * @module
 */
import { write as writeFile } from 'node:fs'
import {
  logBatchBytes,
  logBufferBytesMax,
  logEndMsMax,
  logFlushMs,
  logRetryMs,
} from '../../limits/operation-limits.ts'
import { systemCodeOf } from '../process/failure.ts'
import { singleFlight } from '../../lib/serial.ts'

export interface LineWriter {
  /** @param line with its line end */
  readonly write: (line: string) => void
  /** True if nothing is waiting or being written. */
  readonly isIdle: () => boolean
  /** Resolves when everything is written, or the reader takes too long. */
  readonly end: () => Promise<void>
}

/** @returns the number of bytes that the system took @throws its error */
const writeSome = (file: number, bytes: Uint8Array): Promise<number> =>
  new Promise((resolve, reject) => {
    writeFile(file, bytes, 0, bytes.length, null, (error, count) =>
      error === null ? resolve(count) : reject(error),
    )
  })

/** A pipe that another process set to non-blocking takes the rest later. */
async function writeAll(file: number, bytes: Uint8Array): Promise<void> {
  let left = bytes
  while (left.length > 0) {
    try {
      left = left.subarray(await writeSome(file, left))
    } catch (error) {
      if (systemCodeOf(error) !== 'EAGAIN') throw error
      await Bun.sleep(logRetryMs)
    }
  }
}

const countLines = (text: string): number => text.split('\n').length - 1

/** Keeps lines in order, in batches of whole lines, each of which is written at once. */
function makeBatches(batchBytes: number) {
  const batches: string[] = []
  let last = ''
  return {
    add(line: string): void {
      if (last !== '' && last.length + line.length > batchBytes) {
        batches.push(last)
        last = ''
      }
      last += line
    },
    next(): string | undefined {
      if (batches.length > 0) return batches.shift()
      const batch = last
      last = ''
      return batch === '' ? undefined : batch
    },
  }
}

/**
 * @param file an open pipe, socket, terminal or disk file
 * @param batchBytes longest write, unless a single line is longer
 * @param tellDropped returns the line that reports dropped lines
 */
export function makeLineWriter(
  file: number,
  batchBytes: number,
  tellDropped: (count: number) => string,
): LineWriter {
  const batches = makeBatches(batchBytes)
  let waitingBytes = 0
  let dropped = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  /** @returns true if written: a full disk, or a reader that has gone, ends no service */
  async function isWritten(text: string): Promise<boolean> {
    try {
      await writeAll(file, Buffer.from(text))
      return true
    } catch {
      return false
    }
  }

  /** Reports only after a successful write: otherwise the report would fail as well. */
  async function reportDropped(): Promise<void> {
    const count = dropped
    if (count === 0 || waitingBytes > logBufferBytesMax / 2) return
    if (await isWritten(tellDropped(count))) dropped -= count
  }

  const writeOut = singleFlight(async () => {
    for (let batch = batches.next(); batch !== undefined; batch = batches.next()) {
      const isTold = await isWritten(batch)
      waitingBytes -= batch.length
      if (isTold) await reportDropped()
      else dropped += countLines(batch)
    }
  })

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    return writeOut()
  }

  return {
    write(line) {
      if (waitingBytes + line.length > logBufferBytesMax) {
        dropped += 1
        return
      }
      batches.add(line)
      waitingBytes += line.length
      if (writeOut.running() !== undefined) return
      if (waitingBytes >= logBatchBytes) void flush()
      else timer ??= setTimeout(flush, logFlushMs)
    },
    isIdle: () => waitingBytes === 0 && writeOut.running() === undefined,
    end: () => Promise.race([flush(), Bun.sleep(logEndMsMax)]),
  }
}
