/**
 * Everything impure that the application needs, by name. Tests hand in their own.
 *
 * @module
 */
import type { Keys } from './crypto/keyring.ts'
import type { ErrorKind } from './lib/errors.ts'
import type { Caller } from './rules/caller.ts'
import type { Erasure } from './rules/erasures.ts'
import type { Settings } from './settings/settings.ts'
import type { Store } from './store/contract.ts'
import type { Scheduler } from './lib/waiting.ts'

/** A line for the operator: an event and plain facts, never a value of a caller or of the store. */
export type Log = (
  event: string,
  facts?: Readonly<Record<string, string | number | boolean>>,
) => void

/** One answer, for counters and the log: of what a caller sent, the trace id alone. */
export interface AnswerEvent {
  readonly traceId: string
  /** Whether it is ours, and so none of a caller. */
  readonly isTraceMade: boolean
  /** As the server takes it, which is any word. */
  readonly method: string
  /** The pattern of the address; absent where there is none. */
  readonly route: string | undefined
  /** Absent where none was asked for: at unknown addresses, and of pages. */
  readonly operation: string | undefined
  readonly status: number
  /** Of an answer that is an error. */
  readonly refusal: ErrorKind | undefined
  /** By `elapsedMs`, when its head had come. */
  readonly startedMs: number
  /** Of the body that was read; 0 where nobody read it. */
  readonly bytesIn: number
  /** Of the body of the answer, whether or not the connection took it. */
  readonly bytesOut: number
  /** Absent until a live key is known to have come with it. */
  readonly caller: Pick<Caller, 'applicationId' | 'keyId' | 'sessionId'> | undefined
  /** Of an answer that is no error. */
  readonly shown: Readonly<Record<'reveal' | 'mask' | 'redact', number>> | undefined
  /** Worked out once it is asked for: what only counts pays for none of it. */
  readonly more: () => SeenMore
}

/** Of whom and about what a request was. Each is absent where it is not known, or is none. */
export interface SeenMore {
  /** Behind proxies that are trusted; without a zone. */
  readonly clientAddress: string | undefined
  /** A keyed digest of the id of the one token that was asked for, or made. */
  readonly tokenDigest: string | undefined
  /** The id of the application, key or session that it was about: the vault has made it. */
  readonly objectId: string | undefined
}

/** One answer, with what was asked and why: for a vault whose tokens are no secret. */
export interface AnswerNotice {
  readonly request: Request
  readonly status: number
  /** As in `AnswerEvent`. */
  readonly route: string | undefined
  readonly operation: string | undefined
  /** What an error says. */
  readonly detail: string | undefined
  /** Absent until a live key is known to have come with it. */
  readonly caller: Caller | undefined
  /** Where what was made is. */
  readonly location: string | null
}

/** Where every delete of a token is listed, for restores of older backups. */
export interface Erasures {
  /** @throws ApiError `storage_full`, `unavailable` while an earlier line is not on disk */
  readonly ready: () => Promise<void>
  /**
   * Resolves when the line is on disk.
   * @throws ApiError `storage_full`, `unavailable`; it is tried again, and nothing is ready before
   */
  readonly note: (erasure: Erasure) => Promise<void>
}

export interface Deps {
  readonly store: Store
  /** Whether it is a database of others, for which each request waits. */
  readonly isStoreFar?: boolean
  readonly keys: Keys
  /** Unix milliseconds that never decrease, for what has a date: expiry above all. */
  readonly now: () => number
  /** As `now`, but late where the clock may be wrong: only by this is anything destroyed. */
  readonly settled: () => number
  /** Milliseconds since the process began, always going on: for rates and turns. */
  readonly elapsedMs: () => number
  readonly randomBytes: (count: number) => Uint8Array
  /** What long work waits for between two pieces of it. */
  readonly turns: Scheduler
  readonly log: Log
  /** Told of each answer; absent where nobody counts. */
  readonly observe?: (seen: AnswerEvent) => void
  /** Whether it asks for more of them, so that addresses are noted before they could be gone. */
  readonly asksMore?: boolean
  /** Told of each answer too, and of more: `coffer dev` alone has it. */
  readonly explain?: (answered: AnswerNotice) => void
  /** Absent where nobody asked for a list. */
  readonly erasures?: Erasures | undefined
  readonly settings: Settings
  /** How long a connection waits for its next request; absent where a host decides it. */
  readonly keepAliveSeconds?: number | undefined
}
