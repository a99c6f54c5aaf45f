/**
 * A log as it was written over some days: bundles, checkpoints and the keys of each day.
 * @module
 */
import { printCheckpoint } from '../../src/audit/checkpoint.ts'
import { announceKey } from '../../src/audit/day-keys.ts'
import type { AnnouncedKey } from '../../src/audit/log-heads.ts'
import { emptyFrontier, growTree, rootOf, type Frontier } from '../../src/audit/merkle-tree.ts'
import { makeNoteSigner, type NoteSigner } from '../../src/audit/note-keys.ts'
import { signNote } from '../../src/audit/signed-note.ts'
import {
  verifyLog,
  type LeafBundle,
  type LogToVerify,
  type LogVerdict,
} from '../../src/audit/verify-log.ts'
import { leafOf } from './tree-log.ts'

export const origin = 'coffer/4f1c'

export const daySigner = (day: number, name = origin): NoteSigner =>
  makeNoteSigner(name, 'log', new Uint8Array(32).fill(day + 1))

/** Bundles and notes that a test may change. */
export interface History {
  readonly bundles: LeafBundle[]
  readonly checkpoints: string[]
  readonly announced: AnnouncedKey[]
  /** By size. */
  readonly states: readonly Frontier[]
  noteAt(size: number, ...days: readonly number[]): string
}

/**
 * Writes a log.
 *
 * @param bundlesPerDay each has 1 to 5 entries; the first entry of a later day announces its key
 * @param word entries of another word are others
 */
export function writeHistory(days = 3, bundlesPerDay = 20, word = 'entry'): History {
  const tree = growTree(emptyFrontier)
  const states = [tree.frontier()]
  const bundles: LeafBundle[] = []
  const checkpoints: string[] = []
  const announced: AnnouncedKey[] = []
  const noteAt = (size: number, ...signers: readonly number[]): string => {
    const root = rootOf(states[size] ?? emptyFrontier)
    return signNote(
      printCheckpoint({ origin, size, root }),
      signers.map(day => daySigner(day)),
    )
  }
  for (let turn = 0; turn < days * bundlesPerDay; turn += 1) {
    const first = tree.size()
    const day = Math.floor(turn / bundlesPerDay)
    const leaves = Array.from({ length: 1 + (turn % 5) }, (_, at) =>
      leafOf(`${word} ${first + at}`),
    )
    const [leaf = new Uint8Array(32)] = leaves
    const isChange = day > 0 && turn % bundlesPerDay === 0
    if (isChange) {
      const announcement = announceKey(daySigner(day).key, daySigner(day - 1))
      announced.push({ ...announcement, sequence: first, leaf })
    }
    for (const each of leaves) {
      tree.append(each)
      states.push(tree.frontier())
    }
    bundles.push({ first, leaves })
    // The checkpoint in between is signed by both keys.
    if (isChange) checkpoints.push(noteAt(tree.size(), day - 1, day))
    else if (turn % 4 === 3) checkpoints.push(noteAt(tree.size(), day))
  }
  return { bundles, checkpoints, announced, states, noteAt }
}

async function* inTurn(bundles: readonly LeafBundle[]) {
  yield* bundles
}

/** Returns what a verifier is given of it. */
export const toVerify = (
  { bundles, checkpoints, announced }: Pick<History, 'bundles' | 'checkpoints' | 'announced'>,
  more: Partial<LogToVerify> = {},
): LogToVerify => ({
  bundles: inTurn(bundles),
  checkpoints,
  announced,
  trusted: { key: daySigner(0).key, sequence: -1 },
  pinned: undefined,
  pruned: emptyFrontier,
  ...more,
})

/** Verifies a log once a copy of it was changed. @param change returns what else a reader has */
export async function verifyChanged(
  from: History,
  change: (copy: History) => Partial<LogToVerify> | void,
): Promise<LogVerdict> {
  const copy: History = {
    ...from,
    bundles: [...from.bundles],
    checkpoints: [...from.checkpoints],
    announced: [...from.announced],
  }
  const more = change(copy) ?? {}
  return await verifyLog(toVerify(copy, more))
}

/** Lists the unknown, each with its sequence. */
export const unknownOf = ({ unknown }: LogVerdict) => unknown.map(each => [each.unknown, each.from])
