/**
 * The recorder: building it, running a process under it, and reading its log.
 *
 * recorder.c documents the meaning of each record.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const source = join(import.meta.dir, 'recorder.c')
const headerBytes = 16

/** Calls that can be made to fail, in the numbering of recorder.c. */
const calls = ['sync', 'write', 'meta'] as const

export type Call = (typeof calls)[number]

export interface Fault {
  readonly call: Call
  /** Counted from 1, among calls of the same kind. */
  readonly nth: number
  readonly errno: 'EIO' | 'ENOSPC'
  /** True if from that call on every sync and every write fails. */
  readonly isSticky: boolean
}

const errnos = { EIO: 5, ENOSPC: 28 } as const

export type Event =
  | { readonly is: 'write'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly is: 'synced_write'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly is: 'synced_write_done'; readonly at: number }
  | { readonly is: 'synced_write_failed'; readonly at: number }
  | { readonly is: 'sync'; readonly id: number }
  | { readonly is: 'sync_done'; readonly id: number }
  | { readonly is: 'sync_failed'; readonly id: number }
  | { readonly is: 'cut'; readonly length: number }
  | { readonly is: 'failed_call'; readonly call: Call }
  /** A note that the process itself appended. */
  | { readonly is: 'note'; readonly text: string }

/** Builds the library. @returns its path, or the reason why it cannot be built here */
export function buildRecorder(folder: string): { library: string } | { missing: string } {
  if (process.platform !== 'linux') return { missing: 'the recorder is for Linux' }
  if (Bun.which('gcc') === null) return { missing: 'gcc is not installed' }
  const library = join(folder, 'recorder.so')
  const flags = ['-std=gnu11', '-shared', '-fPIC', '-O2', '-Wall', '-Wextra', '-Werror']
  const { exitCode, stderr } = Bun.spawnSync(['gcc', ...flags, '-o', library, source])
  const text = stderr.toString()
  if (exitCode === 0) return { library }
  // Without libc6-dev there is a compiler but no headers.
  if (/No such file or directory/.test(text)) return { missing: 'the headers of libc are missing' }
  throw new Error(`the recorder does not compile: ${text}`)
}

/** Environment that records a process, and makes its calls fail as the fault says. */
export function recordedBy(
  library: string,
  { file, log, fault }: { readonly file: string; readonly log: string; readonly fault?: Fault },
): Record<string, string> {
  const recorded = { LD_PRELOAD: library, FIO_PATH: file, FIO_LOG: log }
  if (fault === undefined) return recorded
  return {
    ...recorded,
    [`FIO_${fault.call.toUpperCase()}_AT`]: String(fault.nth),
    FIO_ERRNO: String(errnos[fault.errno]),
    FIO_STICKY: fault.isSticky ? '1' : '0',
  }
}

/** Encodes a record of the process itself, to be appended in one write. */
export function encodeNote(text: string): Uint8Array {
  const bytes = Buffer.from(text)
  const note = Buffer.alloc(headerBytes + bytes.length)
  note.write('A')
  note.writeUInt32LE(bytes.length, 4)
  bytes.copy(note, headerBytes)
  return note
}

function eventOf(kind: string, place: number, bytes: Buffer): Event {
  switch (kind) {
    case 'W':
      return { is: 'write', at: place, bytes }
    case 'D':
      return { is: 'synced_write', at: place, bytes }
    case 'd':
      return { is: 'synced_write_done', at: place }
    case 'e':
      return { is: 'synced_write_failed', at: place }
    case 'S':
      return { is: 'sync', id: place }
    case 's':
      return { is: 'sync_done', id: place }
    case 'x':
      return { is: 'sync_failed', id: place }
    case 'T':
      return { is: 'cut', length: place }
    case 'F':
      return { is: 'failed_call', call: calls[place] ?? 'sync' }
    case 'A':
      return { is: 'note', text: bytes.toString() }
    default:
      throw new Error(`a record of the unknown kind ${kind}`)
  }
}

/** @returns all records in order, without one that a kill cut short */
export function readRecording(log: string): readonly Event[] {
  const all = readFileSync(log)
  const events: Event[] = []
  for (let at = 0; at + headerBytes <= all.length;) {
    const kind = String.fromCharCode(all[at] ?? 0)
    const end = at + headerBytes + all.readUInt32LE(at + 4)
    if (end > all.length) break
    const place = Number(all.readBigUInt64LE(at + 8))
    events.push(eventOf(kind, place, all.subarray(at + headerBytes, end)))
    at = end
  }
  return events
}
