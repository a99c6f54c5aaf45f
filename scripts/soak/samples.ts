/**
 * Resources of a running server, seen from outside: memory, descriptors, reader slots, rows, bytes.
 *
 * Reader slots and rows are read through a second, read-only handle on the store: the slots that
 * the engine's own list shows for the server's process, and the engine's count of rows (tokens,
 * sessions and applications together).
 * @module
 */
import { mapBytes } from '../../src/limits/operation-limits.ts'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { readersMax } from '../../src/store/core/limits.ts'

export const measures = [
  'resident memory, KiB',
  'resident memory without files, KiB',
  'descriptors',
  'reader slots',
  'data.mdb, KiB',
  'live rows',
] as const

type Measure = (typeof measures)[number]
export type Reading = Readonly<Record<Measure, number>>

export interface Probe {
  read(): Reading
  close(): Promise<void>
}

/** Returns a member of `/proc/PID/status` in KiB. */
function kibOf(status: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)
  if (found === null) throw new Error(`no ${name} in the status of the process`)
  return Number(found[1])
}

/** Lines of the list are `pid thread transaction`, below a heading. */
const slotsOf = (list: string, pid: number): number =>
  list.split('\n').filter(line => line.trim().split(/\s+/)[0] === String(pid)).length

/** @param pid of the server @param path of its store */
export function openProbe(pid: number, path: string): Probe {
  const plain = { encoding: 'binary', keyEncoding: 'binary', cache: false } as const
  const root = open({
    ...plain,
    path,
    readOnly: true,
    noSubdir: false,
    overlappingSync: false,
    maxReaders: readersMax,
    mapSize: mapBytes,
  })
  const rows = root.openDB({ ...plain, name: 'rows' })
  return {
    read() {
      root.resetReadTxn()
      const status = readFileSync(`/proc/${pid}/status`, 'latin1')
      return {
        'resident memory, KiB': kibOf(status, 'VmRSS'),
        'resident memory without files, KiB': kibOf(status, 'RssAnon'),
        descriptors: readdirSync(`/proc/${pid}/fd`).length,
        'reader slots': slotsOf(root.readerList(), pid),
        'data.mdb, KiB': Math.round(statSync(join(path, 'data.mdb')).size / 1_024),
        'live rows': (rows.getStats() as { entryCount: number }).entryCount,
      }
    },
    close: () => root.close(),
  }
}
