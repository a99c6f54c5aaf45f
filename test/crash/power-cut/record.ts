/**
 * Runs the workload under the recorder, and shows that it missed no write to the file.
 *
 * @module
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRecording, recordedBy, type Event, type Fault } from '../native/recorder.ts'
import type { Note } from './promises.ts'
import type { WeakOptions } from './weaken-lmdb.ts'

export interface RecordOptions {
  readonly library: string
  /** An empty folder. */
  readonly folder: string
  readonly seed: number
  readonly weak?: WeakOptions
  readonly fault?: Fault
}

export interface Recording {
  readonly log: string
  readonly events: readonly Event[]
  readonly exitCode: number
  readonly stderr: string
}

const here = import.meta.dir

/** Command of a power-cut script; weak options are for controls only. */
export const scriptCommand = (script: string, weak: WeakOptions | undefined): string[] => {
  const preload = weak === undefined ? [] : ['--preload', join(here, 'weaken-lmdb.ts')]
  return [process.execPath, ...preload, join(here, script)]
}

export const scriptEnv = (weak: WeakOptions | undefined): Record<string, string | undefined> => ({
  PATH: process.env['PATH'],
  ...(weak === undefined ? {} : { WEAKENED_LMDB: JSON.stringify(weak) }),
})

export async function recordWorkload(options: RecordOptions): Promise<Recording> {
  const { library, folder, seed, weak, fault } = options
  const [store, log] = [join(folder, 'store'), join(folder, 'log')]
  mkdirSync(store)
  const watch = { file: join(store, 'data.mdb'), log, ...(fault === undefined ? {} : { fault }) }
  const child = Bun.spawn([...scriptCommand('workload.ts', weak), store, log, String(seed)], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    env: { ...scriptEnv(weak), ...recordedBy(library, watch) },
  })
  const [stderr, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited])
  return { log, events: readRecording(log), exitCode, stderr }
}

/** Rebuilds the file from the recorded writes alone. */
function rebuildFile(events: readonly Event[]): Uint8Array {
  let file = Buffer.alloc(0)
  for (const event of events) {
    if (!('bytes' in event)) continue
    const missing = event.at + event.bytes.length - file.length
    if (missing > 0) file = Buffer.concat([file, Buffer.alloc(missing)])
    file.set(event.bytes, event.at)
  }
  return file
}

/** True if the recorded writes make exactly the file that the workload left. */
export const isComplete = ({ log, events }: Recording): boolean =>
  Buffer.compare(rebuildFile(events), readFileSync(join(log, '../store/data.mdb'))) === 0

interface Waiting {
  readonly begunAt: number
  isSynced: boolean
  isWhole: boolean
}

/**
 * Counts acknowledged writes, and those acknowledged falsely: between a write and its
 * acknowledgement a sync must begin and end, and then a meta page must go to the disk.
 */
export function countAcknowledged(events: readonly Event[]): { all: number; unsynced: number } {
  const syncsBegunAt = new Map<number, number>()
  const waiting = new Map<number, Waiting>()
  const count = { all: 0, unsynced: 0 }
  for (const [at, event] of events.entries()) {
    if (event.is === 'sync') syncsBegunAt.set(event.id, at)
    for (const write of waiting.values()) {
      if (event.is === 'sync_done') {
        write.isSynced ||= (syncsBegunAt.get(event.id) ?? 0) > write.begunAt
      }
      if (event.is === 'synced_write_done') write.isWhole ||= write.isSynced
    }
    if (event.is !== 'note') continue
    const note = JSON.parse(event.text) as Note
    if (note.is === 'begun') {
      waiting.set(note.writer, { begunAt: at, isSynced: false, isWhole: false })
    } else if (note.is === 'acknowledged') {
      count.all += 1
      if (waiting.get(note.writer)?.isWhole !== true) count.unsynced += 1
      waiting.delete(note.writer)
    }
  }
  return count
}
