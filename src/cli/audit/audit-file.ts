/**
 * An export of the audit log as a file of JSON lines that proves itself.
 *
 * The first line has what a reader needs beside the entries: the announcements of keys and the
 * state of the tree before the first entry. Then each entry has a line with its sequence, its salt
 * and its exact text; the last line has the checkpoints.
 * @module
 */
import { constants, fstatSync, openSync, readSync } from 'node:fs'
import type { LoggedEntry } from '../../audit/bundle.ts'
import { leafOf } from '../../audit/bundle.ts'
import { decodeFrontier, encodeFrontier } from '../../audit/merkle-tree.ts'
import type { PublicLog } from '../../audit/public-log.ts'
import type { LeafBundle } from '../../audit/verify-log.ts'
import { bytesOfHex, hexOf } from '../../lib/bytes.ts'
import { exportLineCharsMax, exportReadBytes } from '../../limits/operation-limits.ts'
import { CommandFailure } from '../../server/process/failure.ts'

const format = 'coffer audit export, format 1'

export const headLine = ({ announcements, pruned }: PublicLog): string =>
  JSON.stringify({ format, announcements, before: hexOf(encodeFrontier(pruned)) })

export const entryLine = ({ sequence, salt, line }: LoggedEntry): string =>
  `{"sequence":${sequence},"salt":"${hexOf(salt)}","entry":${line}}`

export const endLine = ({ checkpoints }: PublicLog): string => JSON.stringify({ checkpoints })

const hexText = /^(?:[0-9a-f]{2})*$/
const entryShape = /^\{"sequence":(0|[1-9]\d{0,14}),"salt":"([0-9a-f]{32})","entry":(\{.*\})\}$/su

const notExported = (file: string) =>
  new CommandFailure(`${file} is no whole export of an audit log: make it by coffer audit export`)

/** Entry of an export, with the hash of its salt and text. */
interface ExportedEntry {
  readonly sequence: number
  readonly leaf: Uint8Array
  /** JSON, as it was exported. */
  readonly text: string
}

/**
 * An export that was opened once, by whatever name: what is proved is what is used. It is open
 * until the process ends.
 */
interface ExportFile {
  readonly name: string
  readonly file: number
}

/** An export whose ends are read. */
export interface Export extends ExportFile {
  /** It differs once the file was written to. */
  readonly state: string
  readonly log: PublicLog
}

/** Never blocks, not even on a pipe without a writer. @throws CommandFailure for no regular file */
function openFile(name: string): ExportFile {
  const file = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
  if (!fstatSync(file).isFile()) throw notExported(name)
  return { name, file }
}

/** Yields all of the file as text, also if it was read before. */
function* piecesOf(file: number): Generator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const piece = Buffer.alloc(exportReadBytes)
  let at = 0
  for (let count = -1; count !== 0; at += count) {
    count = readSync(file, piece, 0, piece.length, at)
    yield decoder.decode(piece.subarray(0, count), { stream: count > 0 })
  }
}

function stateOf(file: number): string {
  const { size, mtimeNs } = fstatSync(file, { bigint: true })
  return [size, mtimeNs].join()
}

/** Only a line feed ends a line: an id may hold what others count as the end of one. */
function* linesOf({ name, file }: ExportFile): Generator<string> {
  const begun: string[] = []
  let chars = 0
  for (const piece of piecesOf(file)) {
    const [end = '', ...more] = piece.split('\n')
    begun.push(end)
    chars += end.length
    if (chars > exportLineCharsMax) throw notExported(name)
    const rest = more.pop()
    if (rest === undefined) continue
    yield begun.join('')
    yield* more
    begun.splice(0, begun.length, rest)
    chars = rest.length
  }
  const rest = begun.join('')
  if (rest !== '') yield rest
}

/**
 * Entries in the order of the file.
 * @throws CommandFailure for any other line between the first and the last: what is proved is all
 *   that another reader of the file may take for an entry
 */
export function* entriesIn(exported: Export): Generator<ExportedEntry> {
  let number = 0
  let other: number | undefined
  for (const line of linesOf(exported)) {
    number += 1
    if (other !== undefined) {
      throw new CommandFailure(`${exported.name}: line ${other} is not as it was exported`)
    }
    const [, sequence, salt, text] = entryShape.exec(line) ?? []
    if (sequence !== undefined && salt !== undefined && text !== undefined) {
      yield { sequence: Number(sequence), leaf: leafOf(bytesOfHex(salt), text), text }
    } else if (number > 1) other = number
  }
  if (stateOf(exported.file) === exported.state) return
  throw new CommandFailure(`${exported.name} was changed while it was read: try again`)
}

/** Each entry as a bundle of its own. */
export async function* bundlesIn(exported: Export): AsyncGenerator<LeafBundle> {
  for (const { sequence, leaf } of entriesIn(exported)) yield { first: sequence, leaves: [leaf] }
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** True for the members of an announcement, as `readPublicLog` returns it. */
function isAnnouncement(value: unknown): value is PublicLog['announcements'][number] {
  if (typeof value !== 'object' || value === null) return false
  const { vkey, signature, sequence, leaf }: Partial<Record<string, unknown>> = { ...value }
  const isPlaced = sequence === undefined || Number.isSafeInteger(sequence)
  const isHashed = leaf === undefined || (isText(leaf) && hexText.test(leaf))
  return isText(vkey) && (signature === undefined || isText(signature)) && isPlaced && isHashed
}

/**
 * Members of a line, if it has these alone and is written as it was exported: of two members with
 * one name another reader may take the other one.
 */
function membersOf(line: string, ...names: readonly string[]): Partial<Record<string, unknown>> {
  const read: unknown = JSON.parse(line)
  const members = typeof read === 'object' && read !== null ? { ...read } : {}
  const isExact = Object.keys(members).join() === names.join() && JSON.stringify(read) === line
  return isExact ? members : {}
}

/** Reads what is around the entries. @returns `undefined` for lines that are not of an export */
function readAround(first: string, last: string): PublicLog | undefined {
  const head = membersOf(first, 'format', 'announcements', 'before')
  const { checkpoints } = membersOf(last, 'checkpoints')
  const { announcements, before } = head
  if (head['format'] !== format || !isText(before)) return undefined
  if (!Array.isArray(announcements) || !announcements.every(isAnnouncement)) return undefined
  if (!Array.isArray(checkpoints) || !checkpoints.every(isText)) return undefined
  return { announcements, checkpoints, pruned: decodeFrontier(bytesOfHex(before)) }
}

/** @throws CommandFailure if the file is no whole export, or no regular file */
export function openExport(name: string): Export {
  try {
    const opened = openFile(name)
    const state = stateOf(opened.file)
    let first: string | undefined
    let last = ''
    for (const line of linesOf(opened)) {
      first ??= line
      last = line
    }
    const log = readAround(first ?? '', last)
    if (log !== undefined) return { ...opened, state, log }
  } catch (error) {
    if (error instanceof CommandFailure) throw error
  }
  throw notExported(name)
}
