/**
 * The memory of another process, as root sees it.
 * @module
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'

const pageBytes = 4_096
const entryBytes = 8
/** Bits of a page map entry: the page is in memory, or in the swap. */
const isThere = 0xc0
const pagesAtOnce = 4_096

interface Region {
  readonly from: number
  readonly to: number
}

/** Returns all readable regions except the database, which shows nothing but its file. */
function regionsOf(pid: number): Region[] {
  const line = /^([0-9a-f]+)-([0-9a-f]+) r\S+ \S+ \S+ \S+ *(.*)$/
  return readFileSync(`/proc/${pid}/maps`, 'latin1')
    .split('\n')
    .flatMap(text => {
      const [, from = '', to = '', name = ''] = line.exec(text) ?? []
      if (from === '' || name.startsWith('[v') || name.endsWith('.mdb')) return []
      return [{ from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) }]
    })
}

/** Yields runs of pages that take memory, in pieces. The runtime maps many that never do. */
function* runsOf(map: number, { from, to }: Region): Generator<Region> {
  const entries = Buffer.alloc(pagesAtOnce * entryBytes)
  for (let at = from; at < to; at += pagesAtOnce * pageBytes) {
    const count = Math.min(pagesAtOnce, (to - at) / pageBytes)
    readSync(map, entries, 0, count * entryBytes, (at / pageBytes) * entryBytes)
    for (let page = 0; page < count; page += 1) {
      const first = page
      while (page < count && ((entries[page * entryBytes + 7] ?? 0) & isThere) !== 0) page += 1
      if (page > first) yield { from: at + first * pageBytes, to: at + page * pageBytes }
    }
  }
}

/** Returns the given bytes that are in its memory. They must be short, within one run. */
export function foundInMemoryOf<T extends Uint8Array>(pid: number, forms: readonly T[]): T[] {
  const found = new Set<T>()
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  const map = openSync(`/proc/${pid}/pagemap`, 'r')
  try {
    for (const region of regionsOf(pid)) {
      for (const { from, to } of runsOf(map, region)) {
        const run = Buffer.alloc(to - from)
        readSync(memory, run, 0, run.length, from)
        for (const form of forms) if (run.includes(form)) found.add(form)
        if (found.size === forms.length) return [...found]
      }
    }
    return [...found]
  } finally {
    closeSync(memory)
    closeSync(map)
  }
}

/** Returns true if the bytes are anywhere in its memory, as in `foundInMemoryOf`. */
export const isInMemoryOf = (pid: number, bytes: Uint8Array): boolean =>
  foundInMemoryOf(pid, [bytes]).length > 0
