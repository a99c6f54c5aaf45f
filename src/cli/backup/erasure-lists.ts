/**
 * Lists of erasures for a restore: tokens that must not come back.
 *
 * They may be larger than memory, so they are read twice: once before anything is restored, to find
 * invalid lines, and once to erase. What is erased is what was checked: lines that are appended
 * meanwhile are left out, and a list that is changed otherwise ends the restore.
 * @module
 */
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { eraseListed, type Erased } from '../../vault/operator/erasure.ts'
import { erasureLineBytesMax } from '../../limits/operation-limits.ts'
import type { BeginProgress } from '../../lib/progress.ts'
import { parseErasure, type Erasure } from '../../rules/erasures.ts'
import { openStoreOf, unsealKeysOf, type FoundFolder } from '../../server/folder/data-folder.ts'
import { CommandFailure, systemCodeOf, usage } from '../../server/process/failure.ts'
import {
  assertContinues,
  erasuresBehind,
  type Continuation,
  type LogOfErasures,
} from './logged-erasures.ts'

const newline = 10
const nothing = Buffer.alloc(0)

const noLine = (file: string, number: number) =>
  new CommandFailure(
    `${file}: line ${number} is no erasure, so nothing was restored: mend it, or remove it where ` +
      'it was cut off',
  )

/** A list as it was when its lines were checked. */
interface CheckedList {
  readonly file: string
  readonly bytes: number
  /** SHA-256 of these bytes. */
  readonly digest: string
}

/** Reads as many bytes at most; `hear` gets all that are read. */
interface Reading {
  readonly bytes: number
  readonly hear: (chunk: Buffer) => void
}

const chunksOf = (file: string, bytes: number): AsyncIterable<Buffer> =>
  createReadStream(file, { end: bytes - 1 }) as AsyncIterable<Buffer>

/** Lines without their ends; the last one may have none. */
async function* linesOf(file: string, { bytes, hear }: Reading): AsyncGenerator<string> {
  let number = 1
  let rest = nothing
  for await (const chunk of bytes === 0 ? [] : chunksOf(file, bytes)) {
    hear(chunk)
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      const line =
        rest.length === 0
          ? chunk.subarray(from, end)
          : Buffer.concat([rest, chunk.subarray(from, end)])
      yield line.toString()
      rest = nothing
      from = end + 1
      number += 1
    }
    rest = Buffer.concat([rest, chunk.subarray(from)])
    if (rest.length > erasureLineBytesMax) throw noLine(file, number)
  }
  yield rest.toString()
}

const unreadable = (file: string, error: unknown) =>
  usage(`--erase: ${file} cannot be read (${systemCodeOf(error) ?? 'unknown'})`)

/** @throws CommandFailure for an invalid line; empty lines are skipped */
async function* erasuresOf(file: string, reading: Reading): AsyncGenerator<Erasure> {
  let number = 0
  try {
    for await (const line of linesOf(file, reading)) {
      number += 1
      if (line.trim() === '') continue
      const erasure = parseErasure(line)
      if (erasure === undefined) throw noLine(file, number)
      yield erasure
    }
  } catch (error) {
    throw systemCodeOf(error) === undefined ? error : unreadable(file, error)
  }
}

/** @throws CommandFailure for a list that is no more what was checked */
async function* erasuresIn(lists: readonly CheckedList[]): AsyncGenerator<Erasure> {
  for (const { file, bytes, digest } of lists) {
    const hash = createHash('sha256')
    yield* erasuresOf(file, { bytes, hear: chunk => void hash.update(chunk) })
    if (hash.digest('hex') === digest) continue
    throw new CommandFailure(
      `${file}: it was changed meanwhile, so nothing was restored: try again`,
    )
  }
}

/** A pipe could be read only once. */
function assertFile(file: string): void {
  try {
    if (statSync(file).isFile()) return
  } catch (error) {
    throw unreadable(file, error)
  }
  throw usage(`--erase: ${file} is no regular file: put the list in one`)
}

/** Lists of which every line is an erasure. */
export interface CheckedLists {
  readonly lists: readonly CheckedList[]
  /** Number of lines in all of them. */
  readonly count: number
}

/**
 * Checks every line, before anything is restored.
 * @throws CommandFailure that names the file and the line
 */
export async function checkLists(files: readonly string[]): Promise<CheckedLists> {
  for (const file of files) assertFile(file)
  const lists: CheckedList[] = []
  let count = 0
  for (const file of files) {
    const hash = createHash('sha256')
    let bytes = 0
    const hear = (chunk: Buffer): void => {
      hash.update(chunk)
      bytes += chunk.length
    }
    for await (const _ of erasuresOf(file, { bytes: Infinity, hear })) count += 1
    lists.push({ file, bytes, digest: hash.digest('hex') })
  }
  return { lists, count }
}

/** Erasures to repeat in a vault that is restored. */
export interface ErasureLists extends CheckedLists {
  readonly log: LogOfErasures | undefined
}

/** Result of erasing by the lists and the log together. */
export interface ErasedByLists extends Erased {
  /** Sequence of the first entry of the log that no checkpoint covers. */
  readonly unsignedFrom?: number
}

async function* allErasures(
  lists: readonly CheckedList[],
  behind: Continuation | undefined,
): AsyncGenerator<Erasure> {
  yield* erasuresIn(lists)
  if (behind !== undefined) yield* erasuresBehind(behind)
}

/**
 * @param folder counts only after this; its master key is wiped
 * @throws CommandFailure for a log that does not go on where that of the folder ends
 */
export async function eraseIn(
  folder: FoundFolder,
  { lists, count, log }: ErasureLists,
  progress: BeginProgress,
): Promise<ErasedByLists> {
  const { store } = await openStoreOf(folder, { onFailure: () => {} })
  // Closes the store if it fails.
  const keys = await unsealKeysOf(store, folder)
  try {
    const behind = log && (await assertContinues(store, log))
    const list = allErasures(lists, behind)
    const erased = await eraseListed({ store, keys }, list, progress(count, 'erasing'))
    const unsignedFrom = behind?.unsignedFrom
    return { ...erased, ...(unsignedFrom === undefined ? {} : { unsignedFrom }) }
  } finally {
    await store.close()
  }
}
