/**
 * The signed heads of a log, which are judged before its entries are read: the chain of keys, and
 * what each checkpoint states, signed by the key of its day.
 *
 * The day of a key begins with the entry that announces it: checkpoints that contain this entry
 * must be signed by this key. The first of them must be signed by the key before as well, so that
 * the new key cannot change what came in before its day.
 * @module
 */
import { equalBytes } from '../lib/bytes.ts'
import { checkpointIn, readCheckpoint, type Checkpoint } from './checkpoint.ts'
import { readAnnouncement, type KeyAnnouncement } from './day-keys.ts'
import { faultOf, isFault, type LogFault, type NoteNumber } from './log-findings.ts'
import type { NoteKey } from './note-keys.ts'
import { openNote } from './signed-note.ts'

/** Announcement, with its place in the log. */
export interface AnnouncedKey extends KeyAnnouncement {
  /** Sequence of the entry that announces it. */
  readonly sequence: number
  /** Leaf hash of that entry. */
  readonly leaf: Uint8Array
}

/** Key, and the sequence with which its day begins: -1 for the first key of its log. */
export interface KeyOfDay {
  readonly key: NoteKey
  readonly sequence: number
}

/** Signed statement about the log. */
export interface LogHead extends Checkpoint {
  readonly note: NoteNumber
  readonly signers: readonly NoteKey[]
}

/** @returns the trusted key and those after it, or the fault of the first that does not follow */
export function followKeys(
  trusted: KeyOfDay,
  announced: readonly AnnouncedKey[],
): readonly [KeyOfDay, ...KeyOfDay[]] | LogFault {
  const keys: [KeyOfDay, ...KeyOfDay[]] = [trusted]
  let last = trusted
  for (const each of announced) {
    const { sequence } = each
    const key = readAnnouncement(each, last.key)
    if (key === undefined || sequence <= last.sequence) return faultOf('key_refused', { sequence })
    last = { key, sequence }
    keys.push(last)
  }
  return keys
}

/** Opens a checkpoint, which the key of its day must have signed. */
function openHead(text: string, note: NoteNumber, keys: readonly KeyOfDay[]): LogHead | LogFault {
  const known = keys.map(({ key }) => key)
  const opened = openNote(text, known)
  if (opened.fault === 'malformed') return faultOf('malformed', { note })
  if (opened.fault === 'wrong_signature') return faultOf('wrong_signature', { note })
  const isOurs = known.some(({ name }) => text.startsWith(`${name}\n`))
  if (!isOurs) return faultOf('other_log', { note })
  if (opened.fault !== undefined) return faultOf('unsigned', { note })
  const head = readCheckpoint(opened.text)
  if (head === undefined) return faultOf('malformed', { note })
  const ofDay = keys.findLast(({ sequence }) => sequence < head.size)
  const signers = opened.by.map(({ key }) => key)
  if (ofDay !== undefined && signers.includes(ofDay.key)) {
    return { ...head, note, signers }
  }
  const places = keys.filter(({ key }) => signers.includes(key))
  const isLater = places.every(({ sequence }) => sequence >= head.size)
  return faultOf(isLater ? 'announced_later' : 'retired', { note })
}

/**
 * Opens a checkpoint by the statement of a witness, who checked that the log had signed it. Anybody
 * may have added the other signatures, so none of them is looked at.
 */
function openWitnessed(
  text: string,
  witness: NoteKey,
  { key: { name } }: KeyOfDay,
): LogHead | LogFault {
  const note = 'pinned'
  const opened = openNote(text, [witness])
  if (opened.fault === 'no_known_key') return faultOf('not_witnessed', { note })
  if (opened.fault !== undefined) return faultOf(opened.fault, { note })
  const head = readCheckpoint(opened.text)
  if (head === undefined) return faultOf('malformed', { note })
  return head.origin === name ? { ...head, note, signers: [] } : faultOf('other_log', { note })
}

/** Every two heads of one size must have one root. */
function findFork(heads: readonly LogHead[]): LogFault | undefined {
  let agreed = 0
  for (const [at, { size, root, note }] of heads.entries()) {
    const before = heads[at - 1]
    if (before?.size === size) {
      if (!equalBytes(before.root, root)) {
        return faultOf('fork', { sequence: agreed, below: size, note })
      }
    } else agreed = before?.size ?? 0
  }
  return undefined
}

/** Each key but the first must have been introduced by the one before it. */
function findHandover(heads: readonly LogHead[], keys: readonly KeyOfDay[]): LogFault | undefined {
  let next = 1
  for (const { size, signers, note } of heads) {
    for (let key = keys[next]; key !== undefined && key.sequence < size; key = keys[next]) {
      const before = keys[next - 1]
      if (before !== undefined && !signers.includes(before.key)) {
        return faultOf('not_handed_over', { note })
      }
      next += 1
    }
  }
  return undefined
}

/** Checkpoint that the reader had kept elsewhere. */
export interface PinnedNote {
  readonly note: string
  /** Witness whose statement is enough; absent where a key of the log must have signed. */
  readonly witness?: NoteKey | undefined
  /**
   * Smaller ones that were kept as well. They show that a log was put back: once it has grown
   * beyond them, it agrees with a newest one of its own. Those before the trusted key are passed
   * over.
   */
  readonly earlier?: readonly string[]
}

interface Heads {
  /** In the order of their sizes. */
  readonly heads: readonly LogHead[]
  /** Checkpoints before the trusted key, which it cannot vouch for. */
  readonly older: number
}

/** Opens what the reader had kept. */
function openPinned(
  { note, witness, earlier = [] }: PinnedNote,
  keys: readonly [KeyOfDay, ...KeyOfDay[]],
): Heads | LogFault {
  const newest =
    witness === undefined ? openHead(note, 'pinned', keys) : openWitnessed(note, witness, keys[0])
  if (isFault(newest)) return newest
  const heads = [newest]
  const isOfKeys = (text: string): boolean =>
    keys[0].sequence < (checkpointIn(text)?.size ?? Number.POSITIVE_INFINITY)
  const known = earlier.filter(isOfKeys)
  for (const text of known) {
    const head = openHead(text, 'pinned', keys)
    if (isFault(head)) return head
    heads.push(head)
  }
  return { heads, older: earlier.length - known.length }
}

/**
 * Opens all checkpoints.
 * @param texts in the order of their sizes; those in front that no known key signed are passed over
 *   if the trusted key is not the first of its log
 */
export function readHeads(
  texts: readonly string[],
  pinned: PinnedNote | undefined,
  keys: readonly [KeyOfDay, ...KeyOfDay[]],
): Heads | LogFault {
  const heads: LogHead[] = []
  const mayBeOlder = keys[0].sequence >= 0
  for (const [note, text] of texts.entries()) {
    const head = openHead(text, note, keys)
    if (isFault(head)) {
      if (mayBeOlder && heads.length === 0 && head.fault === 'unsigned') continue
      return head
    }
    if (head.size < (heads.at(-1)?.size ?? 0)) return faultOf('not_ascending', { note })
    heads.push(head)
  }
  const older = texts.length - heads.length
  const handover = findHandover(heads, keys)
  if (handover !== undefined) return handover
  if (pinned === undefined) return findFork(heads) ?? { heads, older }
  const kept = openPinned(pinned, keys)
  if (isFault(kept)) return kept
  const all = [...heads, ...kept.heads].toSorted((a, b) => a.size - b.size)
  return findFork(all) ?? { heads: all, older: older + kept.older }
}
