/**
 * One request under way: the facts known of it, and the resources taken for it.
 * @module
 */
import type { ErrorKind } from '../lib/errors.ts'
import type { Caller } from '../rules/caller.ts'
import type { InPageTurn, RowsTested, Shown } from '../records/budgeted.ts'
import type { AnswerLease, BodyLease } from './budgets.ts'
import type { Connections } from './keep-alive.ts'
import type { Operation } from './operation.ts'
import type { Params, QueryParameters } from './request.ts'
import type { StoreTurn } from './store-turns.ts'
import type { TextStream } from '../lib/text-stream.ts'

/** A resource of this process that a request has taken. */
interface Lease {
  /** Gives it back; may be called again. */
  readonly release: () => void
}

/** One request, from its head to its answer. Made by `beginExchange`, ended by `finish`. */
export interface Exchange {
  readonly request: Request
  /** The server that has its connection; absent for a call within the process. */
  readonly server: Connections | undefined
  readonly traceId: string
  readonly isTraceMade: boolean
  /** Absent for pages, and at unknown addresses. */
  readonly operation: Operation | undefined
  /** The pattern of the address, with every prefix; absent where there is none. */
  readonly route: string | undefined
  /** By `elapsedMs`; 0 if nobody observes. */
  readonly startedMs: number
  /** Noted at once, since the connection may end; absent by a socket of the file system. */
  readonly clientAddress: string | undefined
  /** The tokens that its answer shows. */
  readonly shown: Shown
  readonly rowsTested: RowsTested
  /** True once the process takes no more requests. */
  readonly isServerEnding: () => boolean

  /** Parameters of its address. */
  params: Params
  query: QueryParameters
  /** Set once its key is found to be live, even if it is then refused. */
  caller: Caller | undefined
  /** Reason that its caller states; absent where none is, or it was not read. */
  statedReason: string | undefined
  /** True once its caller is found, within its rate and permitted. */
  isAdmitted: boolean
  /** True while its body is read. */
  isBodyAwaited: boolean
  /** True once its body has come in whole; without one it means nothing. */
  isBodyRead: boolean
  /** True once its items are counted against the rate. */
  isCounted: boolean
  /** True if its connection stays open until its answer. */
  isKept: boolean
  /** True once it has its entry in the audit log. */
  isAudited: boolean
  /** True if its answer leaves in pieces, each when the one before was taken. */
  isInPieces: boolean
  /** The stream that its operation has begun; absent for an answer at once. */
  stream: TextStream | undefined
  /** Ends the answer that goes on; absent before it has begun, and for all others. */
  endStream: (() => void) | undefined
  bytesIn: number
  bytesOut: number
  /** Id for the log, if its address does not tell it. */
  aboutId: string | undefined
  /** Kind of the error, if the answer is one. */
  refusal: ErrorKind | undefined
  detail: string | undefined

  /** Memory for its body. */
  bodyLease: BodyLease | undefined
  /** Memory for its answer, and for what is opened to make it. */
  answerLease: AnswerLease | undefined
  storeTurn: StoreTurn | undefined
  /** Absent where the request itself has a turn for pages, or no store is waited for. */
  inPageTurn: InPageTurn | undefined
  /** Its idempotency key, under which no other request runs meanwhile. */
  keyLease: Lease | undefined
}

/**
 * Gives back all that was taken, whether the request was answered or refused. An answer in pieces
 * keeps its memory until it is sent, and one that goes on its place until it ends.
 */
export function giveBack(x: Exchange): void {
  x.storeTurn?.release()
  x.bodyLease?.release()
  x.keyLease?.release()
  if (x.isInPieces) return
  x.stream?.end()
  x.answerLease?.release()
}
