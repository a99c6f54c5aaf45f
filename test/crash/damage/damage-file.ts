/**
 * Damages a file as a disk, or a copy that went wrong, would.
 *
 * @module
 */
import type { Draw } from '../draw.ts'

const pageBytes = 4_096
const sectorBytes = 512
/** One damage in so many hits a meta page, which would otherwise be hit too rarely. */
const metaEvery = 20

export const damageKinds = ['flipped bit', 'zeroed sector', 'random page', 'swapped pages'] as const
export type DamageKind = (typeof damageKinds)[number] | 'hole'

const drawPage = (draw: Draw, pages: number): number =>
  draw(metaEvery) === 0 ? draw(2) : draw(pages)

/** @param from a whole number of pages @returns a damaged copy of them */
export function damageBytes(from: Uint8Array, kind: DamageKind, draw: Draw): Uint8Array {
  const bytes = Uint8Array.from(from)
  const pages = bytes.length / pageBytes
  const at = drawPage(draw, pages) * pageBytes
  const page = bytes.subarray(at, at + pageBytes)
  switch (kind) {
    case 'flipped bit': {
      const place = draw(pageBytes)
      page[place] = (page[place] ?? 0) ^ (1 << draw(8))
      break
    }
    case 'zeroed sector': {
      const sector = draw(pageBytes / sectorBytes) * sectorBytes
      page.fill(0, sector, sector + sectorBytes)
      break
    }
    case 'random page':
      page.set(Uint8Array.from({ length: pageBytes }, () => draw(256)))
      break
    case 'swapped pages': {
      const other = drawPage(draw, pages) * pageBytes
      const kept = page.slice()
      page.set(bytes.subarray(other, other + pageBytes))
      bytes.set(kept, other)
      break
    }
    case 'hole':
      page.fill(0)
  }
  return bytes
}
