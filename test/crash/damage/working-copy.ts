/**
 * A copy of a large vault in which one page at a time is damaged, and then restored.
 * @module
 */
import {
  closeSync,
  copyFileSync,
  cpSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Draw } from '../draw.ts'

const pageBytes = 4_096
const chunkBytes = 1_048_576
/** Page layout of the engine: `src/store/lmdb/inspect/page-tree.ts`. */
const headerBytes = 24
const leaf = 2
const rowKeyBytes = 6

export const rotKinds = ['zeros', 'random bytes', 'one bit'] as const
export type RotKind = (typeof rotKinds)[number]

export interface WorkingCopy {
  readonly data: string
  readonly pages: number
  /** @returns the ordinals of the rows in the page, if it looks like a page of rows */
  readonly damage: (page: number, kind: RotKind, draw: Draw) => number[]
  /** Restores the folder to its state before the damage. */
  readonly restore: () => void
}

function damaged(page: Buffer, kind: RotKind, draw: Draw): Buffer {
  if (kind === 'zeros') return Buffer.alloc(pageBytes)
  if (kind === 'random bytes') return Buffer.from(Array.from(page, () => draw(256)))
  const bytes = Buffer.from(page)
  const at = draw(pageBytes)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << draw(8))
  return bytes
}

function ordinalsIn(page: Buffer): number[] {
  const nodes = page.readUInt16LE(20) / 2
  if (page.readUInt16LE(18) !== leaf || headerBytes + nodes * 2 > pageBytes) return []
  const ordinals: number[] = []
  for (let index = 0; index < nodes; index += 1) {
    const at = headerBytes + page.readUInt16LE(headerBytes + 2 * index)
    if (at + 8 + rowKeyBytes > pageBytes || page.readUInt16LE(at + 6) !== rowKeyBytes) return []
    ordinals.push(page.readUIntBE(at + 8, rowKeyBytes))
  }
  return ordinals
}

/** Writes only the chunks that differ: a full copy would keep the disk busy for longer. */
function putBack(sound: number, file: number): void {
  const wanted = Buffer.alloc(chunkBytes)
  const found = Buffer.alloc(chunkBytes)
  const { size } = fstatSync(sound)
  for (let at = 0; at < size; at += chunkBytes) {
    const length = readSync(sound, wanted, 0, chunkBytes, at)
    const isEqual = readSync(file, found, 0, length, at) === length && found.equals(wanted)
    if (!isEqual) writeSync(file, wanted, 0, length, at)
  }
  ftruncateSync(file, size)
}

/** @param made the folder of a vault that nothing changes meanwhile */
export function makeWorkingCopy(made: string, data: string): WorkingCopy {
  cpSync(made, data, { recursive: true })
  rmSync(join(data, 'store', 'lock.mdb'))
  const sound = openSync(join(made, 'store', 'data.mdb'), 'r')
  const path = join(data, 'store', 'data.mdb')
  const edit = (task: (file: number) => void): void => {
    const file = openSync(path, 'r+')
    task(file)
    closeSync(file)
  }
  return {
    data,
    pages: fstatSync(sound).size / pageBytes,
    damage(page, kind, draw) {
      const bytes = Buffer.alloc(pageBytes)
      readSync(sound, bytes, 0, pageBytes, page * pageBytes)
      edit(file => writeSync(file, damaged(bytes, kind, draw), 0, pageBytes, page * pageBytes))
      return ordinalsIn(bytes)
    },
    restore() {
      edit(file => putBack(sound, file))
      rmSync(join(data, 'store', 'lock.mdb'), { force: true })
      copyFileSync(join(made, 'clock'), join(data, 'clock'))
    },
  }
}
