/**
 * What an import leaves behind: how far it is, and tables of lines by what became of them.
 *
 * Neither holds a value of a row. A table is cut back to where the state says that it was when an
 * import goes on, so that nothing is told twice.
 * @module
 */
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
} from 'node:fs'
import { writeWhole } from '../../lib/files.ts'
import { stateFileBytesMax } from '../../limits/operation-limits.ts'
import { CommandFailure, usageExitCode } from '../../server/process/failure.ts'
import { openNewFile, replaceFile } from '../../server/folder/regular-files.ts'
import { csvLine } from './csv.ts'
import { withFile } from './named-file.ts'

const usage = (message: string) => new CommandFailure(message, usageExitCode)

export interface ImportState {
  readonly version: 1
  readonly import: string
  /** The application whose key it is done with: idempotency keys are kept for it alone. */
  readonly application: string
  /** Digests, hexadecimal: of the map, and of the input up to `offset`. */
  readonly map: string
  readonly digest: string
  readonly offset: number
  /** The last line that was dealt with. */
  readonly line: number
  readonly created: number
  readonly equal: number
  readonly rejected: number
  readonly blank: number
  /** Bytes of the tables by name. */
  readonly tables: Readonly<Record<string, number>>
  readonly writtenMs: number
  /** Whether a batch may be under way that nothing more is known of. */
  readonly isPending: boolean
  readonly isDone: boolean
}

/** @throws CommandFailure where a link, or no file, stands in its place */
export const writeState = (path: string, state: ImportState): void =>
  withFile('--state', path, () => replaceFile(path, `${JSON.stringify(state)}\n`))

/** @returns `undefined` where there is none */
export function readState(path: string): ImportState | undefined {
  if (!existsSync(path)) return undefined
  try {
    if (statSync(path).size <= stateFileBytesMax) {
      const state = JSON.parse(readFileSync(path, 'utf8')) as ImportState
      if (state.version === 1 && typeof state.import === 'string') return state
    }
  } catch {
    // Told below.
  }
  throw usage(`the file at ${path} is no state of an import`)
}

export interface ReportFile {
  readonly add: (fields: readonly string[]) => void
  /** On the disk. @returns how long it is, in bytes */
  readonly keep: () => number
  readonly close: () => void
}

function assertOwnTable(path: string, head: string): void {
  if (!existsSync(path) || statSync(path).size === 0) return
  const file = readFileSync(path).subarray(0, head.length)
  if (file.toString() === head) return
  throw usage(`the file at ${path} is no report of an import: name one that is, or a new one`)
}

/** A link is not followed: who may put one there would choose what is written over. */
function openRegular(path: string): number {
  const flags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK
  return openNewFile(path)?.file ?? openSync(path, flags)
}

function openAt(path: string, head: string, from: number): number {
  assertOwnTable(path, head)
  const file = openRegular(path)
  ftruncateSync(file, from)
  return file
}

export interface TableFile {
  /** That names it. */
  readonly option: string
  readonly path: string
  readonly columns: readonly string[]
}

/** @param from how much of it stands, in bytes; it is begun anew at 0. @throws CommandFailure */
export function openTable({ option, path, columns }: TableFile, from = 0): ReportFile {
  const head = csvLine(columns)
  const file = withFile(option, path, () => openAt(path, head, from))
  let length = from
  let waiting = from === 0 ? head : ''
  const keep = (): number => {
    withFile(option, path, () => {
      const bytes = Buffer.from(waiting)
      writeWhole(file, bytes, length)
      length += bytes.length
      waiting = ''
      fsyncSync(file)
    })
    return length
  }
  return {
    keep,
    add(fields) {
      waiting += csvLine(fields)
    },
    close() {
      keep()
      closeSync(file)
    },
  }
}
