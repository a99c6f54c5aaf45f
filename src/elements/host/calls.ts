/**
 * Requests for tokens, each with its pending promise.
 * @module
 */
import { messageMsMax } from '../limits.ts'
import type { CardToken, Failure, ToPage } from '../protocol.ts'
import { ElementsError } from './error.ts'

interface Call {
  readonly number: number
  readonly done: (token: CardToken) => void
  readonly failed: (failure: Failure) => void
}

export interface Calls {
  /** @param ask called with the number of the call */
  readonly make: (timeoutMs: number, ask: (call: number) => void) => Promise<CardToken>
  readonly heard: (message: ToPage) => void
  /** Fails all that are pending. */
  readonly fail: (failure: Failure) => void
}

const noAnswer: Failure = { code: 'unavailable', message: 'the frame gave no answer in time' }

export function makeCalls(): Calls {
  let last = 0
  let call: Call | undefined
  const fail = (failure: Failure): void => call?.failed(failure)
  return {
    make: (timeoutMs, ask) =>
      new Promise((resolve, reject) => {
        const number = (last += 1)
        const timer = setTimeout(() => fail(noAnswer), timeoutMs + messageMsMax)
        const end = (): void => {
          clearTimeout(timer)
          call = undefined
        }
        call = {
          number,
          done(token) {
            end()
            resolve(token)
          },
          failed(failure) {
            end()
            reject(new ElementsError(failure))
          },
        }
        try {
          ask(number)
        } catch {
          // A message cannot hold it: it has a function, for example.
          fail({ code: 'invalid_request', message: 'expected a request of texts' })
        }
      }),
    heard(message) {
      if (!('call' in message) || message.call !== call?.number) return
      if (message.type === 'made') call.done(message.token)
      else call.failed(message.failure)
    },
    fail,
  }
}
