/**
 * Lines that are written in batches, beside the work that they tell of: nobody waits for them.
 *
 * What does not fit while a slow reader is waited for is dropped, and how much it was is told in
 * a line of its own.
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
  /** @param line of ASCII, with its end */
  readonly write: (line: string) => void
  /** Whether nothing waits and nothing is being written. */
  readonly isIdle: () => boolean
  /** Resolves when all is written, or when the reader takes too long. */
  readonly end: () => Promise<void>
}

/** @returns how many bytes the system took @throws its error */
const writeSome = (file: number, bytes: Uint8Array): Promise<number> =>
  new Promise((resolve, reject) => {
    writeFile(file, bytes, 0, bytes.length, null, (error, count) =>
      error === null ? resolve(count) : reject(error),
    )
  })

/** A pipe that others have made one that does not wait takes more later. */
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

/** Lines in their order, in batches that are written at once: whole lines each. */
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
 * @param file an open file: a pipe, a socket, a terminal or a file of the disk
 * @param batchBytes of one write, where whole lines of it are no more
 * @param tellDropped the line that says how many lines are missing
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

  /** @returns whether it was written: a full disk, or a reader that has gone, ends no service */
  async function isWritten(text: string): Promise<boolean> {
    try {
      await writeAll(file, Buffer.from(text, 'latin1'))
      return true
    } catch {
      return false
    }
  }

  /** Behind a line that was written only: where none can be, this one would not be either. */
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
