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

/** What is asked for, of a card that can go to the vault. */
function check(form: Form, message: object): Asked | Failure {
  const asked = askedOf(message)
  if ('code' in asked) return asked
  const fields = form.check()
  if (fields.length === 0) return asked
  return { code: 'invalid_card', message: 'the card is not complete, or wrong', fields }
}

function tokenOf(body: unknown, number: string): CardToken | Failure {
  const id = idOf(body)
  if (id === undefined) return { code: 'unavailable', message: 'what answered is no vault' }
  return { id, brand: kindOfNumber(number).brand, data: maskedOf(body, number) }
}

export function makeTokens(form: Form, means: TokenMeans): Tokens {
  let unanswered: Sent | undefined
  let isUnderWay = false
  const create = async ({ key, request, timeoutMs }: Asked): Promise<CardToken | Failure> => {
    const digits = form.digits()
    const body = JSON.stringify({ ...request, type: 'card', data: dataOf(digits) })
    const sent = isSame(unanswered, key, body)
      ? unanswered
      : { key, body, idempotencyKey: means.randomHex(idempotencyKeyBytes) }
    unanswered = sent
    const untilMs = means.elapsedMs() + timeoutMs
    const answer = await send(means, { url: means.url, untilMs, ...sent })
    const failure = failureOf(answer)
    if (failure?.code !== 'unavailable') unanswered = undefined
    return failure ?? tokenOf(answer?.body, digits.number)
  }
  return {
    async make(message) {
      if (isUnderWay) return { code: 'invalid_request', message: 'a token is being made already' }
      const asked = check(form, message)
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
