/**
 * Lists of erasures for a restore: tokens that must not come back.
 *
 * They may be larger than memory, so they are read twice: once before anything is restored, to find
 * invalid lines, and once to erase.
 * @module
 */
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

/** Lines without their ends; the last one may have none. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let number = 1
  let rest = nothing
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
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
async function* erasuresOf(file: string): AsyncGenerator<Erasure> {
  let number = 0
  try {
    for await (const line of linesOf(file)) {
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

async function* erasuresIn(files: readonly string[]): AsyncGenerator<Erasure> {
  for (const file of files) yield* erasuresOf(file)
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

/**
 * Checks every line, before anything is restored.
 * @returns the number of erasures
 * @throws CommandFailure that names the file and the line
 */
export async function countErasures(files: readonly string[]): Promise<number> {
  for (const file of files) assertFile(file)
  let count = 0
  for await (const _ of erasuresIn(files)) count += 1
  return count
}

/** Erasures to repeat in a vault that is restored. */
export interface ErasureLists {
  readonly files: readonly string[]
  /** Number of lines in all files. */
  readonly count: number
  readonly log: LogOfErasures | undefined
}

/** Result of erasing by the lists and the log together. */
export interface ErasedByLists extends Erased {
  /** Sequence of the first entry of the log that no checkpoint covers. */
  readonly unsignedFrom?: number
}

async function* allErasures(
  files: readonly string[],
  behind: Continuation | undefined,
): AsyncGenerator<Erasure> {
  yield* erasuresIn(files)
  if (behind !== undefined) yield* erasuresBehind(behind)
}

/**
 * @param folder counts only after this; its master key is wiped
 * @throws CommandFailure for a log that does not go on where that of the folder ends
 */
export async function eraseIn(
  folder: FoundFolder,
  { files, count, log }: ErasureLists,
  progress: BeginProgress,
): Promise<ErasedByLists> {
  const { store } = await openStoreOf(folder, { onFailure: () => {} })
  // Closes the store if it fails.
  const keys = await unsealKeysOf(store, folder)
  try {
    const behind = log && (await assertContinues(store, log))
    const list = allErasures(files, behind)
    const erased = await eraseListed({ store, keys }, list, progress(count, 'erasing'))
    const unsignedFrom = behind?.unsignedFrom
    return { ...erased, ...(unsignedFrom === undefined ? {} : { unsignedFrom }) }
  } finally {
    await store.close()
  }
}
