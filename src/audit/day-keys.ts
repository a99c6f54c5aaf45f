/**
 * The chain of the keys that sign checkpoints, one for each day: each key is announced by its
 * predecessor, whose private half is then overwritten. So a key taken today cannot sign for
 * yesterday.
 * @module
 */
import { utf8 } from '../lib/bytes.ts'
import {
  parseVerifierKey,
  printSignature,
  printVerifierKey,
  type NoteKey,
  type NoteSigner,
} from './note-keys.ts'
import { openNote } from './signed-note.ts'

/** Entry of the log that announces the next key. */
export interface KeyAnnouncement {
  readonly vkey: string
  /** Base64 as in a signature line of a note, by the key before it, over the announced text. */
  readonly signature: string
}

/** It cannot be taken for a checkpoint, whose second line is a number. */
const announcedText = (vkey: string): string => `coffer audit key\n${vkey}\n`

export function announceKey(next: NoteKey, { key, sign }: NoteSigner): KeyAnnouncement {
  const vkey = printVerifierKey(next)
  return { vkey, signature: printSignature(key, sign(utf8(announcedText(vkey)))) }
}

/** @returns the announced key; undefined if the key before it did not announce it for its log */
export function readAnnouncement(
  { vkey, signature }: KeyAnnouncement,
  before: NoteKey,
): NoteKey | undefined {
  const text = announcedText(vkey)
  const opened = openNote(`${text}\n\u2014 ${before.name} ${signature}\n`, [before])
  if (opened.fault !== undefined || opened.text !== text) return undefined
  const next = parseVerifierKey(vkey)
  if (typeof next === 'string') return undefined
  return next.name === before.name && next.kind === before.kind ? next : undefined
}
