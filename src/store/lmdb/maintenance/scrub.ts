/**
 * Overwrites bytes that the engine has left in its file.
 *
 * A replaced value stays on a free page, and pieces of it in the gap of a page in use. The searched
 * values are sealed, so no live value has the same bytes: each match is overwritten, whatever page
 * it is on. Source: hardening C7 (keys that are gone).
 * @module
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { bufferOf } from '../../../lib/bytes.ts'
import { dropDeadReaders, readerListOf, type LmdbEnvironment } from '../environment.ts'
import { scrubChunkBytes, scrubRestMs } from '../../../limits/operation-limits.ts'

/** Length of the pieces searched for, each separately: a page may keep a part of the whole. */
const pieceBytes = 16

/** Position of a piece in the file, and its bytes. */
interface Hit {
  readonly position: number
  readonly piece: Uint8Array
}

const piecesOf = (sealed: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.floor(sealed.length / pieceBytes) }, (_, i) =>
    sealed.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  )

/** Fewer pieces are searched for one by one, with the runtime's own search; more in one pass. */
const onePassFrom = 17

type FindHits = (bytes: Buffer, from: number) => Hit[]

const findOneByOne =
  (pieces: readonly Uint8Array[]): FindHits =>
  (bytes, from) => {
    const hits: Hit[] = []
    for (const piece of pieces) {
      for (let at = bytes.indexOf(piece); at >= 0; at = bytes.indexOf(piece, at + 1)) {
        hits.push({ position: from + at, piece })
      }
    }
    return hits
  }

/**
 * Takes the same time for any number of pieces, because other work waits meanwhile: two bytes rule
 * out most positions, four nearly all others.
 */
function findInOnePass(pieces: readonly Uint8Array[]): FindHits {
  const isBegun = new Uint8Array(2 ** 16)
  const byBeginning = new Map<number, Uint8Array[]>()
  for (const piece of pieces) {
    const bytes = bufferOf(piece)
    isBegun[bytes.readUInt16BE(0)] = 1
    const beginning = bytes.readUInt32BE(0)
    byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), piece])
  }
  return (bytes, from) => {
    const hits: Hit[] = []
    const end = bytes.length - pieceBytes
    let two = bytes[0] ?? 0
    for (let at = 0; at <= end; at += 1) {
      two = ((two << 8) | (bytes[at + 1] ?? 0)) & 0xffff
      if (isBegun[two] !== 1) continue
      for (const piece of byBeginning.get(bytes.readUInt32BE(at)) ?? []) {
        if (bytes.compare(piece, 0, pieceBytes, at, at + pieceBytes) === 0) {
          hits.push({ position: from + at, piece })
        }
      }
    }
    return hits
  }
}

/** Searches in chunks, and rests between them: it leaves half of a processor to other work. */
async function findAll(file: number, pieces: readonly Uint8Array[]): Promise<Hit[]> {
  const room = Buffer.alloc(scrubChunkBytes + pieceBytes - 1)
  const find = pieces.length < onePassFrom ? findOneByOne(pieces) : findInOnePass(pieces)
  const hits: Hit[] = []
  const { size } = fstatSync(file)
  for (let from = 0; from < size; from += scrubChunkBytes) {
    const length = readSync(file, room, 0, room.length, from)
    hits.push(...find(room.subarray(0, length), from))
    await setTimeout(scrubRestMs)
  }
  return hits
}

function overwrite(file: number, { position, piece }: Hit): void {
  const bytes = Buffer.alloc(pieceBytes)
  readSync(file, bytes, 0, pieceBytes, position)
  // The engine may have reused the page meanwhile.
  if (bufferOf(piece).equals(bytes))
    writeSync(file, Buffer.alloc(pieceBytes), 0, pieceBytes, position)
}

/*
 * Readers of an older commit, mostly a backup of another process: what they read must not change.
 */

/** Process, thread and commit of a reader that holds a state. */
const readCommit = /^\s*\d+\s+\S+\s+(\d+)$/

/** True if a reader holds a state from before a commit. */
export function isReadBefore({ root }: LmdbEnvironment, commit: number): boolean {
  dropDeadReaders(root)
  return readerListOf(root)
    .split('\n')
    .some(line => Number(readCommit.exec(line)?.[1] ?? Infinity) < commit)
}

/**
 * Searches the file of a store once.
 * @param folder of the file
 * @param sealed removed values
 * @param alone runs a task while no process writes to the file
 * @returns number of pieces found
 */
export async function scrub(
  folder: string,
  sealed: readonly Uint8Array[],
  alone: (task: () => void) => Promise<void>,
): Promise<number> {
  const file = openSync(join(folder, 'data.mdb'), 'r+')
  try {
    const hits = await findAll(file, sealed.flatMap(piecesOf))
    if (hits.length > 0) {
      await alone(() => {
        for (const hit of hits) overwrite(file, hit)
        fsyncSync(file)
      })
    }
    return hits.length
  } finally {
    closeSync(file)
  }
}
