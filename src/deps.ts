/**
 * Everything impure that the application needs, by name. Tests pass their own.
 *
 * @module
 */
import type { AuditLog } from './audit/audit-log.ts'
import type { Keys } from './crypto/keyring.ts'
import type { ErrorKind } from './lib/errors.ts'
import type { Caller } from './rules/caller.ts'
import type { Erasure } from './rules/erasures.ts'
import type { Settings } from './settings/settings.ts'
import type { Store } from './store/contract.ts'
import type { Scheduler } from './lib/work.ts'

/** Logs a line for the operator: an event and plain facts, never a caller's or stored value. */
export type Log = (
  event: string,
  facts?: Readonly<Record<string, string | number | boolean>>,
) => void

/** One answer, for counters and the log: trace id and method are the only texts of its caller. */
export interface AnswerEvent {
  readonly traceId: string
  /** True if the vault made the trace id, and not the caller. */
  readonly isTraceMade: boolean
  /** As the server accepts it: any word. */
  readonly method: string
  /** Pattern of the address; absent if no route matched. */
  readonly route: string | undefined
  /** Absent at unknown addresses, and for pages. */
  readonly operation: string | undefined
  readonly status: number
  /** Kind of error, if the answer is one. */
  readonly refusal: ErrorKind | undefined
  /** Arrival of the request's head, by `elapsedMs`. */
  readonly startedMs: number
  /** Bytes of the request body that were read; 0 if it was not read. */
  readonly bytesIn: number
  /** Bytes of the answer's body, even if the connection did not take them. */
  readonly bytesOut: number
  /** Absent until a live key has been recognized. */
  readonly caller: Pick<Caller, 'applicationId' | 'keyId' | 'sessionId'> | undefined
  /** Counts of transforms that were shown; absent for an error that tells of no token. */
  readonly shown: Readonly<Record<'reveal' | 'mask' | 'redact', number>> | undefined
  /** Computed on demand: counters alone need not pay for it. */
  readonly more: () => SeenMore
}

/** Subject and object of a request. Each is absent if unknown or none. */
export interface SeenMore {
  /** Address seen by the trusted proxies; without a zone. */
  readonly clientAddress: string | undefined
  /** A keyed digest of the id of the one token that was requested or made. */
  readonly tokenDigest: string | undefined
  /** The id of the application, key or session in question, which the vault made. */
  readonly objectId: string | undefined
}

/** One answer with its request and the reason: only for a vault whose tokens are no secret. */
export interface AnswerNotice {
  readonly request: Request
  readonly status: number
  /** As in `AnswerEvent`. */
  readonly route: string | undefined
  readonly operation: string | undefined
  /** Message of an error. */
  readonly detail: string | undefined
  /** Absent until a live key has been recognized. */
  readonly caller: Caller | undefined
  /** Address of the object that was made. */
  readonly location: string | null
}

/** List of every deleted token, for restores of older backups. */
export interface Erasures {
  /** @throws ApiError `storage_full`, `unavailable` while an earlier line is not on disk */
  readonly ready: () => Promise<void>
  /**
   * Resolves when the line is on disk.
   * @throws ApiError `storage_full`, `unavailable`; retried, and `ready` rejects until then
   */
  readonly note: (erasure: Erasure) => Promise<void>
}

/** Answers of `/status`: the processes that serve tell of themselves. */
export interface Reports {
  /** @throws ApiError `unavailable` while nobody says it, here and below */
  readonly status: () => Promise<object>
  readonly history: () => Promise<object>
  readonly settings: () => Promise<object>
}

export interface Deps {
  readonly store: Store
  /** True for a remote database, on which each request waits. */
  readonly isStoreFar?: boolean
  readonly keys: Keys
  /** Unix milliseconds that never decrease, for everything with a date, above all expiry. */
  readonly now: () => number
  /** Like `now`, but held back while the clock is suspect. Decide deletion by this alone. */
  readonly settled: () => number
  /** Milliseconds since the process began, by a monotonic clock: for rates and turns. */
  readonly elapsedMs: () => number
  readonly randomBytes: (count: number) => Uint8Array
  /** Awaited by long work between two pieces of it. */
  readonly turns: Scheduler
  readonly log: Log
  readonly audit: AuditLog
  /** Receives each answer; absent if nobody counts. */
  readonly observe?: (seen: AnswerEvent) => void
  /** Receives each answer with details; only `coffer dev` sets it. */
  readonly explain?: (answered: AnswerNotice) => void
  /** Absent if a host serves the vault. */
  readonly reports?: Reports | undefined
  /** Absent if no list was requested. */
  readonly erasures?: Erasures | undefined
  readonly settings: Settings
  /** Time that a connection waits for its next request; absent if a host decides it. */
  readonly keepAliveSeconds?: number | undefined
}
