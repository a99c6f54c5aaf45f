/**
 * Files that an import leaves behind: its progress, and tables of lines by their outcome.
 *
 * Neither holds a value of a row. When an import continues, a table is cut back to the length in
 * the state, so that nothing is reported twice.
 * @module
 */
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs'
import { readRegular, writeWhole } from '../../lib/files.ts'
import { stateFileBytesMax } from '../../limits/operation-limits.ts'
import { usage } from '../../server/process/failure.ts'
import { openNewFile, replaceFile } from '../../server/folder/regular-files.ts'
import { csvLine } from './csv.ts'
import { withFile } from './named-file.ts'

export interface ImportState {
  readonly version: 1
  readonly import: string
  /** The application whose key it uses: idempotency keys are kept for it alone. */
  readonly application: string
  /** Digests, hexadecimal: of the map, and of the input up to `offset`. */
  readonly map: string
  readonly digest: string
  readonly offset: number
  /** The last line that was handled. */
  readonly line: number
  readonly created: number
  readonly equal: number
  readonly rejected: number
  readonly blank: number
  /** Bytes of the tables by name. */
  readonly tables: Readonly<Record<string, number>>
  readonly writtenMs: number
  /** True if a batch may be in flight whose outcome is unknown. */
  readonly isPending: boolean
  readonly isDone: boolean
}

/** @throws CommandFailure if a link, or something that is no file, stands in its place */
export const writeState = (path: string, state: ImportState): void =>
  withFile('--state', path, () => replaceFile(path, `${JSON.stringify(state)}\n`))

/** @returns `undefined` if there is none */
export function readState(path: string): ImportState | undefined {
  if (!existsSync(path)) return undefined
  try {
    const bytes = readRegular(path, stateFileBytesMax)
    const state = JSON.parse(bytes?.toString('utf8') ?? 'null') as ImportState | null
    if (state?.version === 1 && typeof state.import === 'string') return state
  } catch {
    // Reported below.
  }
  throw usage(`the file at ${path} is no state of an import: name another one by --state`)
}

export interface ReportFile {
  readonly add: (fields: readonly string[]) => void
  /** Writes it to the disk. @returns its length in bytes */
  readonly keep: () => number
  readonly close: () => void
}

function assertOwnTable(path: string, head: string): void {
  if (!existsSync(path) || statSync(path).size === 0) return
  const begins = Buffer.alloc(Buffer.byteLength(head))
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    readSync(file, begins)
  } finally {
    closeSync(file)
  }
  if (begins.toString() === head) return
  throw usage(`the file at ${path} is no report of an import: name one that is, or a new one`)
}

/** Follows no link: a user who could put one there would choose the file that is overwritten. */
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
  /** Option that names it. */
  readonly option: string
  readonly path: string
  readonly columns: readonly string[]
}

/** @param from bytes of it that stay; at 0 it is begun anew. @throws CommandFailure */
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
