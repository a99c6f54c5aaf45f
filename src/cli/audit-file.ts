/**
 * An export of the audit log as a file of JSON lines that proves itself.
 *
 * The first line has what a reader needs beside the entries: the announcements of keys and the
 * state of the tree before the first entry. Then each entry has a line with its sequence, its salt
 * and its exact text; the last line has the checkpoints.
 * @module
 */
import { createReadStream, statSync } from 'node:fs'
import type { LoggedEntry } from '../audit/bundle.ts'
import { leafOf } from '../audit/bundle.ts'
import { decodeFrontier, encodeFrontier } from '../audit/merkle-tree.ts'
import type { PublicLog } from '../audit/public-log.ts'
import type { LeafBundle } from '../audit/verify-log.ts'
import { bytesOfHex, hexOf } from '../lib/bytes.ts'
import { exportLineCharsMax } from '../limits/operation-limits.ts'
import { CommandFailure } from '../server/process/failure.ts'

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

/** Only a line feed ends a line: an id may hold what others count as the end of one. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const begun: string[] = []
  let chars = 0
  for await (const piece of createReadStream(file, 'utf8')) {
    const [end = '', ...more] = String(piece).split('\n')
    begun.push(end)
    chars += end.length
    if (chars > exportLineCharsMax) throw notExported(file)
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
export async function* entriesIn(file: string): AsyncGenerator<ExportedEntry> {
  let number = 0
  let other: number | undefined
  for await (const line of linesOf(file)) {
    number += 1
    if (other !== undefined) {
      throw new CommandFailure(`${file}: line ${other} is not as it was exported`)
    }
    const [, sequence, salt, text] = entryShape.exec(line) ?? []
    if (sequence !== undefined && salt !== undefined && text !== undefined) {
      yield { sequence: Number(sequence), leaf: leafOf(bytesOfHex(salt), text), text }
    } else if (number > 1) other = number
  }
}

/** Each entry as a bundle of its own. */
export async function* bundlesIn(file: string): AsyncGenerator<LeafBundle> {
  for await (const { sequence, leaf } of entriesIn(file)) yield { first: sequence, leaves: [leaf] }
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

/** Members of a line, if it has these alone. */
function membersOf(line: string, ...names: readonly string[]): Partial<Record<string, unknown>> {
  const read: unknown = JSON.parse(line)
  const members = typeof read === 'object' && read !== null ? { ...read } : {}
  return Object.keys(members).join() === names.join() ? members : {}
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

/** @throws CommandFailure if the file is no whole export, or no regular file: it is read twice */
export async function openExport(file: string): Promise<PublicLog> {
  let first: string | undefined
  let last = ''
  try {
    if (!statSync(file).isFile()) throw notExported(file)
    for await (const line of linesOf(file)) {
      first ??= line
      last = line
    }
    const log = readAround(first ?? '', last)
    if (log !== undefined) return log
  } catch (error) {
    if (error instanceof CommandFailure) throw error
  }
  throw notExported(file)
}
