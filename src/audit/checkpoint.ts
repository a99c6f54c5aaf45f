/**
 * Text of a checkpoint: the name of the log, its size and its root, each on a line.
 *
 * Source: C2SP tlog-checkpoint. Extension lines are skipped and never written: monitors cannot
 * audit them, and newer signatures do not cover them.
 * @module
 */
import { invariant } from '../lib/errors.ts'
import { hashBytes, isTreeSize } from './merkle-tree.ts'
import { bytesOfBase64, isKeyName } from './note-keys.ts'
import type { TreeHead } from './proofs.ts'

export interface Checkpoint extends TreeHead {
  /** Identity of the log, which is also the name of its keys. */
  readonly origin: string
}

export function printCheckpoint({ origin, size, root }: Checkpoint): string {
  invariant(isKeyName(origin), 'an origin has no blanks and pluses')
  invariant(isTreeSize(size) && root.length === hashBytes, 'a checkpoint has a size and a root')
  return `${origin}\n${size}\n${root.toBase64()}\n`
}

/** @param text of an opened note @returns undefined if it is no checkpoint */
export function readCheckpoint(text: string): Checkpoint | undefined {
  const lines = text.split('\n')
  const [origin = '', digits = '', encoded = ''] = lines
  if (lines.pop() !== '' || lines.includes('')) return undefined
  const [size, root] = [Number(digits), bytesOfBase64(encoded)]
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(digits) || !isTreeSize(size)) return undefined
  return root?.length === hashBytes ? { origin, size, root } : undefined
}

/** The checkpoint of a note, whose signatures are not looked at. @returns undefined as above */
export const checkpointIn = (note: string): Checkpoint | undefined =>
  readCheckpoint(note.slice(0, note.indexOf('\n\n') + 1))
