/**
 * A model of a disk: the contents of a recorded file at one moment, and what a power cut may leave.
 *
 * The rules: bytes written before a completed sync began are on the disk. Bytes written since may
 * be there or not, in any choice of 512-byte sectors, in whatever order they were written. Bytes
 * written through O_DSYNC are there once the write has returned, and until then may be lost too.
 * If bytes of a longer file were lost, zeros take their place.
 * @module
 */
import type { Event } from '../native/recorder.ts'

const sectorBytes = 512
/** The cache writes each page to the disk by itself, so a long write counts as many short ones. */
const pageBytes = 4_096

/** Bytes within one page that were written at once. */
export interface Piece {
  readonly at: number
  readonly bytes: Uint8Array
}

export interface Disk {
  /** Bytes that no power cut removes, from byte 0; zeros after `length`. */
  readonly safe: Uint8Array
  length: number
  /** Pieces that may still be lost, oldest first. */
  pending: Piece[]
  /** Pieces that a sync under way will make safe, by its id. */
  readonly syncs: Map<number, readonly Piece[]>
}

/** One possible loss: for each pending piece its surviving sectors, as bits. */
export interface Loss {
  readonly kept: readonly number[]
  /** True if the file kept its full length, which went to the disk before its bytes. */
  readonly isLong: boolean
}

export interface Image {
  readonly bytes: Uint8Array
  readonly length: number
}

const endOf = ({ at, bytes }: Piece): number => at + bytes.length
const pageOf = (at: number): number => Math.floor(at / pageBytes)
const sectorOf = (at: number): number => Math.floor(at / sectorBytes)

/** Largest size in bytes that the recorded file ever had: room for each of its states. */
export const capacityOf = (events: readonly Event[]): number =>
  events.reduce((most, event) => ('bytes' in event ? Math.max(most, endOf(event)) : most), 0)

export const openDisk = (capacity: number): Disk => ({
  safe: new Uint8Array(capacity),
  length: 0,
  pending: [],
  syncs: new Map(),
})

function cutIntoPages(at: number, bytes: Uint8Array): Piece[] {
  const pieces: Piece[] = []
  for (let from = 0; from < bytes.length;) {
    const to = Math.min(bytes.length, (pageOf(at + from) + 1) * pageBytes - at)
    pieces.push({ at: at + from, bytes: bytes.subarray(from, to) })
    from = to
  }
  return pieces
}

/** Makes pieces safe, in the order in which they were written. */
function settle(disk: Disk, isSettled: (piece: Piece) => boolean): void {
  for (const piece of disk.pending.filter(isSettled)) {
    disk.safe.set(piece.bytes, piece.at)
    disk.length = Math.max(disk.length, endOf(piece))
  }
  disk.pending = disk.pending.filter(piece => !isSettled(piece))
}

export function applyEvent(disk: Disk, event: Event): void {
  switch (event.is) {
    case 'write':
    case 'synced_write':
      disk.pending = [...disk.pending, ...cutIntoPages(event.at, event.bytes)]
      return
    case 'synced_write_done':
      // Pages go to the disk whole, so earlier bytes of the same page become safe too.
      return settle(disk, ({ at }) => pageOf(at) === pageOf(event.at))
    case 'sync':
      disk.syncs.set(event.id, disk.pending)
      return
    case 'sync_done': {
      const settled = new Set(disk.syncs.get(event.id))
      return settle(disk, piece => settled.has(piece))
    }
    case 'cut':
      throw new Error('a file that is cut is not understood')
    default:
  }
}

export const sectorsOf = (piece: Piece): number =>
  sectorOf(endOf(piece) - 1) - sectorOf(piece.at) + 1

/** Bits of all sectors of a piece. */
export const wholePiece = (piece: Piece): number => 2 ** sectorsOf(piece) - 1

function writeKept(target: Uint8Array, { at, bytes }: Piece, kept: number): number {
  let end = 0
  for (let sector = sectorOf(at); sector * sectorBytes < at + bytes.length; sector += 1) {
    if ((kept & (1 << (sector - sectorOf(at)))) === 0) continue
    const from = Math.max(at, sector * sectorBytes)
    end = Math.min(at + bytes.length, (sector + 1) * sectorBytes)
    target.set(bytes.subarray(from - at, end - at), from)
  }
  return end
}

/** Builds the file that a power cut leaves. @param target overwritten, as large as the disk */
export function buildImage(disk: Disk, { kept, isLong }: Loss, target: Uint8Array): Image {
  target.set(disk.safe)
  let { length } = disk
  disk.pending.forEach((piece, i) => {
    const end = writeKept(target, piece, kept[i] ?? 0)
    length = Math.max(length, isLong ? endOf(piece) : end)
  })
  return { bytes: target, length }
}
