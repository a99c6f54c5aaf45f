/**
 * Copies of checkpoints in a bucket: they show later that a log was cut off, or that a whole folder
 * was put back to an earlier state.
 *
 * Each is an object of its own below the name of its log, so that a bucket with object lock keeps
 * them all. Its name begins with the complement of the size: a service lists names in ascending
 * order, so the newest is the first. It ends with the root, so that another history of that size
 * takes no name of the first.
 *
 * A log that was put back grows on, and its new checkpoints come here as well: only the earlier
 * ones show it. So a reader compares all of them.
 * @module
 */
import { checkpointIn, type Checkpoint } from '../../audit/checkpoint.ts'
import type { SignedCheckpoint } from '../../audit/checkpoints.ts'
import type { Deps } from '../../deps.ts'
import { hexOf, utf8, utf8Text } from '../../lib/bytes.ts'
import { present } from '../../lib/errors.ts'
import {
  auditEntriesMax,
  checkpointCopyMs,
  keptCheckpointsMax,
  keptReadsAtOnce,
  pinnedNoteBytesMax,
} from '../../limits/operation-limits.ts'
import { CommandFailure } from '../process/failure.ts'
import { addressPrefix, openBucket, splitAddress } from './bucket.ts'

interface KeptCheckpoints {
  /** In the order of their sizes, the greatest first. */
  readonly notes: readonly string[]
  /** False if there are smaller ones, which were not read. */
  readonly isAll: boolean
}

export interface CheckpointPlace {
  /** @throws CommandFailure */
  readonly put: (checkpoint: SignedCheckpoint) => Promise<void>
  /**
   * @param origin name of the log
   * @throws CommandFailure also for anything else below that name: it could hide a checkpoint
   */
  readonly kept: (origin: string) => Promise<KeptCheckpoints>
}

const digits = String(auditEntriesMax).length
const complementOf = (size: number): string => String(auditEntriesMax - size).padStart(digits, '0')
const rootBytesNamed = 8

const nameOf = ({ size, root }: Checkpoint): string =>
  `${complementOf(size)}-${size}-${hexOf(root.subarray(0, rootBytesNamed))}.note`

/** A name may also be without the root, as the first servers gave it. */
const isNamed = (checkpoint: Checkpoint, name: string): boolean =>
  name === nameOf(checkpoint) || name === nameOf(checkpoint).replace(/-\w+\.note$/, '.note')

/**
 * A program that has the credentials of the server may add an object, and a newer version of one.
 * @throws CommandFailure unless the note states what its name does
 */
function assertNamed(note: string, origin: string, name: string, address: string): void {
  const checkpoint = checkpointIn(note)
  if (checkpoint?.origin === origin && isNamed(checkpoint, name)) return
  throw new CommandFailure(
    `${address} is no checkpoint of what its name says, and no server of this vault has put it ` +
      'there: find out who did, and look at earlier versions of it',
  )
}

/**
 * @param address `s3://bucket/prefix`
 * @param wallMs Unix time, by which a service judges requests
 * @throws CommandFailure if the environment has no credentials
 */
export function openCheckpointPlace(address: string, wallMs: () => number): CheckpointPlace {
  const { bucket: bucketName, key: prefix } = splitAddress(address)
  const bucket = openBucket(bucketName)
  const below = (origin: string): string => `${prefix === '' ? '' : `${prefix}/`}${origin}/`

  async function read(origin: string, key: string): Promise<string> {
    const note = utf8Text(await bucket.readStart(key, pinnedNoteBytesMax))
    const name = key.slice(below(origin).length)
    assertNamed(note, origin, name, `${addressPrefix}${bucketName}/${key}`)
    return note
  }

  return {
    put({ origin, note }) {
      const checkpoint = present(checkpointIn(note), 'what was signed is a checkpoint')
      return bucket.put(below(origin) + nameOf(checkpoint), utf8(note), wallMs())
    },
    async kept(origin) {
      const keys = await bucket.first(below(origin), keptCheckpointsMax + 1)
      const notes: string[] = []
      for (let at = 0; at < keys.length; at += keptReadsAtOnce) {
        const some = keys.slice(at, Math.min(at + keptReadsAtOnce, keptCheckpointsMax))
        notes.push(...(await Promise.all(some.map(key => read(origin, key)))))
      }
      return { notes, isAll: keys.length <= keptCheckpointsMax }
    },
  }
}

export interface CheckpointCopies {
  /** Has a checkpoint sent, unless one is under way or was less than `checkpointCopyMs` ago. */
  readonly offer: (checkpoint: SignedCheckpoint) => void
  /** Returns the numbers of this process. */
  readonly counts: () => { readonly kept: number; readonly failed: number }
}

const reasonOf = (error: unknown): string =>
  error instanceof CommandFailure ? error.message : 'unknown'

/** Failures are logged once and counted, and stop nothing: the next checkpoint says more. */
export function makeCheckpointCopies(
  { put }: Pick<CheckpointPlace, 'put'>,
  { elapsedMs, log }: Pick<Deps, 'elapsedMs' | 'log'>,
): CheckpointCopies {
  const counts = { kept: 0, failed: 0 }
  let sentMs = Number.NEGATIVE_INFINITY
  let isUnderWay = false
  let hasFailed = false

  async function send(checkpoint: SignedCheckpoint): Promise<void> {
    try {
      await put(checkpoint)
      counts.kept += 1
      if (hasFailed) log('audit_copy_made')
      hasFailed = false
    } catch (error) {
      counts.failed += 1
      if (!hasFailed) log('audit_copy_failed', { reason: reasonOf(error) })
      hasFailed = true
    } finally {
      isUnderWay = false
    }
  }

  return {
    counts: () => ({ ...counts }),
    offer(checkpoint) {
      if (isUnderWay || elapsedMs() - sentMs < checkpointCopyMs) return
      isUnderWay = true
      sentMs = elapsedMs()
      void send(checkpoint)
    },
  }
}
