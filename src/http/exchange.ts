/**
 * One request under way: what is known of it, and what was taken for it.
 * @module
 */
import type { ErrorKind } from '../lib/errors.ts'
import type { Caller } from '../rules/caller.ts'
import type { ShownCounts } from '../records/budgeted.ts'
import type { AnswerLease, BodyLease } from './budgets.ts'
import type { Connections } from './keep-alive.ts'
import type { Operation } from './operation.ts'
import type { Params, QueryParameters } from './request.ts'
import type { StoreTurn } from './store-turns.ts'

/** Something of this process that a request has, and gives back. */
interface Lease {
  /** Gives it back; more than once is no matter. */
  readonly release: () => void
}

/** One request, from its head to its answer. Made by `beginExchange`, ended by `finish`. */
export interface Exchange {
  readonly request: Request
  /** What has its connection, where it came in by one. */
  readonly server: Connections | undefined
  readonly traceId: string
  readonly isTraceMade: boolean
  /** Absent at unknown addresses, and of pages. */
  readonly operation: Operation | undefined
  /** The pattern of the address, with every prefix; absent where there is none. */
  readonly route: string | undefined
  /** By `elapsedMs`; 0 where nobody counts. */
  readonly startedMs: number
  /** Noted at once, since the connection may end; absent where nobody asks. */
  readonly clientAddress: string | undefined
  /** How many tokens its answer shows; absent where nobody counts. */
  readonly shown: ShownCounts | undefined

  /** Of its address. */
  params: Params
  query: QueryParameters
  /** Absent until a live key is known to have come with it, also of who is then refused. */
  caller: Caller | undefined
  /** Whether its caller may ask for this, now. */
  isAdmitted: boolean
  /** Whether nothing is done for it until its body has come. */
  isBodyAwaited: boolean
  /** Whether its body came in whole; where it has none, nobody cares. */
  isBodyRead: boolean
  /** Whether its items count against the rate already. */
  isCounted: boolean
  /** Whether its connection stays open until its answer. */
  isKept: boolean
  /** Whether its answer leaves in pieces, each when the one before was taken. */
  isInPieces: boolean
  bytesIn: number
  bytesOut: number
  /** Of what it was about, where its address does not say so. */
  aboutId: string | undefined
  /** Of an answer that is an error. */
  refusal: ErrorKind | undefined
  detail: string | undefined

  /** Memory for its body. */
  bodyLease: BodyLease | undefined
  /** Memory for its answer, and for what is opened to make it. */
  answerLease: AnswerLease | undefined
  storeTurn: StoreTurn | undefined
  /** That no other request runs under its idempotency key. */
  keyLease: Lease | undefined
}

/** Gives back all that was taken. An answer in pieces keeps its memory until it was sent. */
export function giveBack(x: Exchange): void {
  x.storeTurn?.release()
  x.bodyLease?.release()
  x.keyLease?.release()
  if (!x.isInPieces) x.answerLease?.release()
}
