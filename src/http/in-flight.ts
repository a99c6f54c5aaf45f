/**
 * The requests that are under way: so that a process can end in order, and that no connection ends
 * for being idle while its answer is worked out.
 * @module
 */
import { idleSecondsMax } from '../limits/limits.ts'
import type { Exchange } from './exchange.ts'

export interface InFlight {
  /** @returns what it was given */
  readonly enter: (exchange: Exchange) => Exchange
  readonly leave: (exchange: Exchange) => void
  readonly underWay: () => number
  /** Has the connections of all that are under way stay open until their answer. */
  readonly keepOpen: () => void
  /** True once no more requests are taken. */
  readonly isEnding: () => boolean
  /** Takes no more, and ends streams; resolves when all that was under way has its answer. */
  readonly end: () => Promise<void>
}

/**
 * A body that is on its way has the pace that the server asks for, and a time of its own; and so
 * has an answer that goes on, whose connection has to take it.
 */
function keep(exchange: Exchange): void {
  if (exchange.isBodyAwaited || exchange.endStream !== undefined) return
  exchange.isKept = true
  exchange.server?.timeout(exchange.request, 0)
}

export function makeInFlight(): InFlight {
  const exchanges = new Set<Exchange>()
  let ended: (() => void) | undefined
  return {
    enter(exchange) {
      exchanges.add(exchange)
      return exchange
    },
    leave(exchange) {
      exchanges.delete(exchange)
      // It may idle again, and ends where nobody takes the answer.
      if (exchange.isKept) exchange.server?.timeout(exchange.request, idleSecondsMax)
      if (exchanges.size === 0) ended?.()
    },
    underWay: () => exchanges.size,
    keepOpen() {
      for (const exchange of exchanges) keep(exchange)
    },
    isEnding: () => ended !== undefined,
    end: () =>
      new Promise<void>(resolve => {
        ended = resolve
        for (const { endStream } of exchanges) endStream?.()
        if (exchanges.size === 0) resolve()
      }),
  }
}
