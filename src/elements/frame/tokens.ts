/**
 * Makes a token of what was typed, one at a time.
 *
 * Where no answer came, the card may be in the vault already: the next attempt with the same
 * contents goes under the same idempotency key, so that there is one token.
 * @module
 */
import { idempotencyKeyBytes } from '../limits.ts'
import type { CardToken, Failure } from '../protocol.ts'
import { kindOfNumber } from './brands.ts'
import { dataOf } from './card.ts'
import type { Form } from './form.ts'
import { failureOf, idOf, maskedOf } from './outcome.ts'
import { askedOf, type Asked } from './requests.ts'
import { send, type Means } from './vault.ts'

interface Sent {
  readonly key: string
  readonly body: string
  readonly idempotencyKey: string
}

export interface Tokens {
  /** @param message of the page, as it came */
  readonly make: (message: object) => Promise<CardToken | Failure>
  /** Nothing of the card is kept. */
  readonly forget: () => void
}

export interface TokenMeans extends Means {
  readonly randomHex: (bytes: number) => string
  /** Where tokens are created. */
  readonly url: string
}

const isSame = (sent: Sent | undefined, key: string, body: string): sent is Sent =>
  sent?.key === key && sent.body === body

export function makeTokens(form: Form, means: TokenMeans): Tokens {
  let unanswered: Sent | undefined
  let isUnderWay = false

  const create = async ({ key, request, timeoutMs }: Asked): Promise<CardToken | Failure> => {
    const digits = form.digits()
    const body = JSON.stringify({ ...request, type: 'card', data: dataOf(digits) })
    const { idempotencyKey } = isSame(unanswered, key, body)
      ? unanswered
      : { idempotencyKey: means.randomHex(idempotencyKeyBytes) }
    unanswered = { key, body, idempotencyKey }
    const untilMs = means.elapsedMs() + timeoutMs
    const answer = await send(means, { url: means.url, untilMs, ...unanswered })
    const failure = failureOf(answer)
    if (failure?.code === 'unavailable') return failure
    unanswered = undefined
    if (failure !== undefined) return failure
    const id = idOf(answer?.body)
    if (id === undefined) return { code: 'unavailable', message: 'what answered is no vault' }
    const { brand } = kindOfNumber(digits.number)
    return { id, brand, data: maskedOf(answer?.body, digits.number) }
  }

  const check = (message: object): Asked | Failure => {
    const asked = askedOf(message)
    if ('code' in asked) return asked
    const fields = form.check()
    if (fields.length === 0) return asked
    return { code: 'invalid_card', message: 'the card is not complete, or wrong', fields }
  }

  return {
    async make(message) {
      if (isUnderWay) return { code: 'invalid_request', message: 'a token is being made already' }
      const asked = check(message)
      if ('code' in asked) return asked
      isUnderWay = true
      try {
        return await create(asked)
      } finally {
        isUnderWay = false
      }
    },
    forget() {
      unanswered = undefined
    },
  }
}
