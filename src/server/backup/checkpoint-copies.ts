/**
 * Copies of checkpoints in a bucket: they show later that a log was cut off, or that a whole folder
 * was put back to an earlier state.
 *
 * Each is an object of its own below the name of its log, so that a bucket with object lock keeps
 * them all. Its name begins with the complement of the size: a service lists names in ascending
 * order, so the newest is the first.
 * @module
 */
import type { SignedCheckpoint } from '../../audit/checkpoints.ts'
import type { Deps } from '../../deps.ts'
import { utf8, utf8Text } from '../../lib/bytes.ts'
import {
  auditEntriesMax,
  checkpointCopyMs,
  pinnedNoteBytesMax,
} from '../../limits/operation-limits.ts'
import { CommandFailure } from '../process/failure.ts'
import { openBucket, splitAddress } from './bucket.ts'

export interface CheckpointPlace {
  /** @throws CommandFailure */
  readonly put: (checkpoint: SignedCheckpoint) => Promise<void>
  /**
   * Returns the one of the greatest size; `undefined` if there is none.
   * @param origin name of the log
   */
  readonly newest: (origin: string) => Promise<string | undefined>
}

const digits = String(auditEntriesMax).length
const complementOf = (size: number): string => String(auditEntriesMax - size).padStart(digits, '0')

/**
 * @param address `s3://bucket/prefix`
 * @param wallMs Unix time, by which a service judges requests
 * @throws CommandFailure if the environment has no credentials
 */
export function openCheckpointPlace(address: string, wallMs: () => number): CheckpointPlace {
  const { bucket: name, key: prefix } = splitAddress(address)
  const bucket = openBucket(name)
  const below = (origin: string): string => `${prefix === '' ? '' : `${prefix}/`}${origin}/`
  return {
    put: ({ origin, size, note }) =>
      bucket.put(`${below(origin)}${complementOf(size)}-${size}.note`, utf8(note), wallMs()),
    async newest(origin) {
      const key = await bucket.first(below(origin))
      if (key === undefined) return undefined
      return utf8Text(await bucket.readStart(key, pinnedNoteBytesMax))
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
