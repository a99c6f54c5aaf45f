/**
 * The guard of an event loop turn against requests that are sent without waiting for answers.
 *
 * The server runs all that one read of a connection holds, and reads on while more comes, also of
 * connections that come meanwhile: a turn of pipelined requests may have no end, and all others
 * wait for it. So from a bound on, a connection that brings one such request right behind another
 * is ended with an answer, and what it sent behind that is never run. A caller that waits for
 * answers brings one a turn, and is never ended, also if a proxy sends for many; nor is a
 * connection that nothing tells from another. The bound is lower for requests that are not
 * admitted: without a live key, above its rate or without the permission.
 * Source: hardening H126.
 * @module
 */
import { strangersPerTurnMax } from '../limits/limits.ts'
import { endBehindLast, endConnection, type Origin, type Origins } from './keep-alive.ts'

/** Counts a request. @returns whether its connection must end with the answer */
export type FloodGuard = (request: Request, origins: Origins | undefined) => boolean

/** @param perTurnMax requests of a turn from which on connections end */
export function makeFloodGuard(perTurnMax: number): FloodGuard {
  let count = 0
  let last: Origin | null = null
  const beginTurn = (): void => {
    count = 0
  }
  return (request, origins) => {
    // Runs once all that is read in this turn has been answered, or waits for something.
    if (count === 0) setImmediate(beginTurn)
    count += 1
    if (count < perTurnMax || origins === undefined) return false
    const origin = origins.requestIP(request)
    // At the bound the origin is only noted; the request behind it is the first to be compared.
    const isSame = origin?.port === last?.port && origin?.address === last?.address
    last = origin
    return origin !== null && isSame && count > perTurnMax
  }
}

/** Has an answer that is sent without an exchange end its connection where that is to end. */
export type EndAnswer = (request: Request, response: Response, origins: Origins) => Response

/** Makes the function for the answers of a listener, or of an address, that asks for no key. */
export function makeEndAnswer(): EndAnswer {
  const countUnadmitted = makeFloodGuard(strangersPerTurnMax)
  return (request, response, origins) => {
    if (countUnadmitted(request, origins)) endConnection(response)
    return endBehindLast(request, response)
  }
}
