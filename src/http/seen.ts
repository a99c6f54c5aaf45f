/**
 * The event of an answered request, for the log and metrics.
 * @module
 */
import { logDigest } from '../crypto/keyring.ts'
import type { AnswerNotice, Deps, AnswerEvent, SeenMore } from '../deps.ts'
import type { Exchange } from './exchange.ts'

/**
 * decision: an id is shown where an answer that is no error says that it is one of the vault, which
 * has made it; any other is the text of a caller. The digest of a token's id is there where the
 * token was found or looked for in vain, which counts as a guess. With that of a request that was
 * refused otherwise, a reader of the log who has a key could compare any number of ids.
 */
function moreOf({ keys }: Pick<Deps, 'keys'>, exchange: Exchange, isError: boolean): SeenMore {
  const { operation, aboutId, params, refusal, clientAddress, shown } = exchange
  const about = operation?.about
  const id = aboutId ?? params['keyId'] ?? params['id']
  const isLookedUp = !isError || refusal === 'not_found' || shown.isTold
  const isDigested = about === 'token' && id !== undefined && isLookedUp
  return {
    clientAddress,
    tokenDigest: isDigested ? logDigest(keys, id) : undefined,
    objectId: about === 'object' && !isError ? id : undefined,
  }
}

/** HEAD is answered without the body. A refusal that tells of tokens has shown them. */
export function seenOf(deps: Pick<Deps, 'keys'>, exchange: Exchange, status: number): AnswerEvent {
  const { traceId, isTraceMade, route, operation, refusal, startedMs, bytesIn, bytesOut, caller } =
    exchange
  const { method } = exchange.request
  const isError = refusal !== undefined
  return {
    traceId,
    isTraceMade,
    method,
    route,
    operation: operation?.name,
    status,
    refusal,
    startedMs,
    caller,
    bytesIn,
    bytesOut: method === 'HEAD' ? 0 : bytesOut,
    shown: isError && !exchange.shown.isTold ? undefined : exchange.shown.counts,
    more: () => moreOf(deps, exchange, isError),
  }
}

/** For readers who may know all of it. */
export function answeredBy(exchange: Exchange, { status, headers }: Response): AnswerNotice {
  const { request, route, operation, detail, caller } = exchange
  const location = headers.get('location')
  return { request, status, route, operation: operation?.name, detail, caller, location }
}
