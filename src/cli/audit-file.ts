/**
 * An export of the audit log as a file of JSON lines that proves itself.
 *
 * The first line has what a reader needs beside the entries: the announcements of keys and the
 * state of the tree before the first entry. Then each entry has a line with its sequence, its salt
 * and its exact text; the last line has the checkpoints.
 * @module
 */
import { createReadStream } from 'node:fs'
import type { LoggedEntry } from '../audit/bundle.ts'
import { leafOf } from '../audit/bundle.ts'
import { decodeFrontier, encodeFrontier } from '../audit/merkle-tree.ts'
import type { PublicLog } from '../audit/public-log.ts'
import type { LeafBundle } from '../audit/verify-log.ts'
import { bytesOfHex, hexOf } from '../lib/bytes.ts'
import { CommandFailure } from '../server/process/failure.ts'

const format = 'coffer audit export, format 1'

export const headLine = ({ announcements, pruned }: PublicLog): string =>
  JSON.stringify({ format, announcements, before: hexOf(encodeFrontier(pruned)) })

export const entryLine = ({ sequence, salt, line }: LoggedEntry): string =>
  `{"sequence":${sequence},"salt":"${hexOf(salt)}","entry":${line}}`

export const endLine = ({ checkpoints }: PublicLog): string => JSON.stringify({ checkpoints })

const entryShape = /^\{"sequence":(\d{1,15}),"salt":"([0-9a-f]{32})","entry":(\{.*\})\}$/su

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
  for await (const piece of createReadStream(file, 'utf8')) {
    const [end = '', ...more] = String(piece).split('\n')
    begun.push(end)
    const rest = more.pop()
    if (rest === undefined) continue
    yield begun.join('')
    yield* more
    begun.splice(0, begun.length, rest)
  }
  const rest = begun.join('')
  if (rest !== '') yield rest
}

/** Entries in the order of the file; other lines are passed over. */
export async function* entriesIn(file: string): AsyncGenerator<ExportedEntry> {
  for await (const line of linesOf(file)) {
    const [, sequence, salt, text] = entryShape.exec(line) ?? []
    if (sequence === undefined || salt === undefined || text === undefined) continue
    yield { sequence: Number(sequence), leaf: leafOf(bytesOfHex(salt), text), text }
  }
}

/** Each entry as a bundle of its own. */
export async function* bundlesIn(file: string): AsyncGenerator<LeafBundle> {
  for await (const { sequence, leaf } of entriesIn(file)) yield { first: sequence, leaves: [leaf] }
}

/** Reads what is around the entries. @throws CommandFailure if the file is no whole export */
export async function openExport(file: string): Promise<PublicLog> {
  let first: string | undefined
  let last = ''
  try {
    for await (const line of linesOf(file)) {
      first ??= line
      last = line
    }
    const head = JSON.parse(first ?? '') as Partial<PublicLog> & Record<string, unknown>
    const { checkpoints } = JSON.parse(last) as Partial<PublicLog>
    if (head['format'] !== format || checkpoints === undefined) throw notExported(file)
    return {
      announcements: head.announcements ?? [],
      checkpoints,
      pruned: decodeFrontier(bytesOfHex(String(head['before']))),
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw notExported(file)
  }
}
