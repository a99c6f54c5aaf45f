/**
 * Overwriting bytes that the engine has left in its file.
 *
 * A value that was replaced stays on a free page, and pieces of it in the gap of a page in use.
 * What is looked for is sealed, so that no value that stands has the same bytes: each place where
 * they are is overwritten, whatever page that is. Source: hardening C7 (keys that are gone).
 * @module
 */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { bufferOf } from '../../../lib/bytes.ts'
import { scrubChunkBytes } from '../../../limits/operation-limits.ts'

/** Pieces of this length are looked for, each alone: a page may keep a part of the whole. */
const pieceBytes = 16

/** Where in a file a piece is, and where it stands in what is looked for. */
interface Hit {
  readonly position: number
  readonly piece: Uint8Array
}

const piecesOf = (sealed: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.floor(sealed.length / pieceBytes) }, (_, i) =>
    sealed.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  )

/** Up to so many are looked for one by one, by the runtime's own search; more in one pass. */
const onePassFrom = 17

type Look = (bytes: Buffer, from: number) => Hit[]

const lookOneByOne =
  (pieces: readonly Uint8Array[]): Look =>
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
 * Costs the same for any number of pieces, in which others wait: most places are passed by their
 * first two bytes, and the others by their first four.
 */
function lookOnce(pieces: readonly Uint8Array[]): Look {
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

/** In pieces, between which others have their turn. */
async function findAll(file: number, pieces: readonly Uint8Array[]): Promise<Hit[]> {
  const room = Buffer.alloc(scrubChunkBytes + pieceBytes - 1)
  const look = pieces.length < onePassFrom ? lookOneByOne(pieces) : lookOnce(pieces)
  const hits: Hit[] = []
  const { size } = fstatSync(file)
  for (let from = 0; from < size; from += scrubChunkBytes) {
    const length = readSync(file, room, 0, room.length, from)
    hits.push(...look(room.subarray(0, length), from))
    await setImmediate()
  }
  return hits
}

function overwrite(file: number, { position, piece }: Hit): void {
  const bytes = Buffer.alloc(pieceBytes)
  readSync(file, bytes, 0, pieceBytes, position)
  // The engine may have used the page for something else meanwhile.
  if (bufferOf(piece).equals(bytes))
    writeSync(file, Buffer.alloc(pieceBytes), 0, pieceBytes, position)
}

/**
 * Looks once through the file of a store.
 * @param folder of the file
 * @param sealed values that stand no more
 * @param alone runs a task while no process writes to the file
 * @returns how many pieces were found
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
