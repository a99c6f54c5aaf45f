/**
 * Reads standard input for commands: every user of the machine can read arguments.
 * @module
 */
import { readSync } from 'node:fs'
import { ApiError } from '../lib/errors.ts'
import type { Json } from '../lib/json/json.ts'
import { decodeUtf8, parseJson } from '../lib/json/parse-json.ts'
import { inputBytesMax } from '../limits/operation-limits.ts'
import { systemCodeOf, usage } from '../server/process/failure.ts'

const chunkBytes = 65_536
const standardInput = 0

function readChunk(into: Uint8Array): number {
  try {
    return readSync(standardInput, into, 0, into.length, null)
  } catch (error) {
    if (systemCodeOf(error) === 'EOF') return 0
    throw error
  }
}

/** @throws CommandFailure for more than a vault would take */
function readInput(): Uint8Array {
  const chunks: Uint8Array[] = []
  const chunk = new Uint8Array(chunkBytes)
  for (let bytes = 0; ;) {
    const read = readChunk(chunk)
    if (read === 0) return Buffer.concat(chunks)
    bytes += read
    if (bytes > inputBytesMax)
      throw usage(`standard input: expected at most ${inputBytesMax} bytes`)
    chunks.push(chunk.slice(0, read))
  }
}

/** @throws CommandFailure that repeats nothing of it */
export function readTextInput(what: string): string {
  const bytes = readInput()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw usage(`standard input: expected ${what} as UTF-8`)
  }
}

/**
 * Loses nothing: a text that the interface refuses is refused here.
 * @throws CommandFailure that repeats nothing of it
 */
export function readJsonInput(what: string): Json {
  const bytes = readInput()
  try {
    return parseJson(decodeUtf8(bytes, ''), '')
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const [told] = Object.values(error.fields ?? {}).flat()
    throw usage(`standard input: expected ${what} as JSON: ${told ?? error.message}`)
  }
}
