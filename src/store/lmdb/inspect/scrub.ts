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
import { bufferOf } from '../../../bytes.ts'
import { scrubChunkBytes } from '../../../operation-limits.ts'

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

function hitsIn(bytes: Buffer, from: number, pieces: readonly Uint8Array[]): Hit[] {
  const hits: Hit[] = []
  for (const piece of pieces) {
    for (let at = bytes.indexOf(piece); at >= 0; at = bytes.indexOf(piece, at + 1)) {
      hits.push({ position: from + at, piece })
    }
  }
  return hits
}

/** In pieces, between which others have their turn. */
async function findAll(file: number, pieces: readonly Uint8Array[]): Promise<Hit[]> {
  const room = Buffer.alloc(scrubChunkBytes + pieceBytes - 1)
  const hits: Hit[] = []
  const { size } = fstatSync(file)
  for (let from = 0; from < size; from += scrubChunkBytes) {
    const length = readSync(file, room, 0, room.length, from)
    hits.push(...hitsIn(room.subarray(0, length), from, pieces))
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
