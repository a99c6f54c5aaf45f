/**
 * Makes a token of what was typed: one at a time, and one per filling, since masks of several parts
 * of a number would together show more than one mask does.
 *
 * Without an answer, the card may be in the vault already: the next attempt with the same contents
 * uses the same idempotency key, so that there is one token.
 * @module
 */
import { idempotencyKeyBytes, leaveMsMax, leaveWaitMs } from '../limits.ts'
import type { CardToken, Failure } from '../protocol.ts'
import { kindOfNumber } from './brands.ts'
import { dataOf } from './card.ts'
import type { Form } from './form.ts'
import { failureOf, idOf, maskedOf } from './outcome.ts'
import { askedOf, type CheckedRequest } from './requests.ts'
import { send, type Means } from './vault.ts'

/** Contents of the last token, as JSON. */
interface Filling {
  readonly data: string
  readonly request: string
  readonly token: CardToken
}

interface Sent {
  readonly key: string
  readonly body: string
  readonly idempotencyKey: string
}

export interface TokenMaker {
  /** @param message of the page, as received */
  readonly make: (message: object) => Promise<CardToken | Failure>
  /** Forgets everything about the card. */
  readonly forget: () => void
}

export interface TokenMeans extends Means {
  readonly randomHex: (bytes: number) => string
  /** Address that creates tokens. */
  readonly url: string
}

const isSame = (sent: Sent | undefined, key: string, body: string): sent is Sent =>
  sent?.key === key && sent.body === body

/** Returns a failure if the card has errors. */
function check(form: Form): Failure | undefined {
  const fields = form.check()
  if (fields.length === 0) return undefined
  return { code: 'invalid_card', message: 'the card is not complete, or wrong', fields }
}

function tokenOf(body: unknown, number: string): CardToken | Failure {
  const id = idOf(body)
  if (id === undefined) return { code: 'unavailable', message: 'what answered is no vault' }
  return { id, brand: kindOfNumber(number).brand, data: maskedOf(body, number) }
}

/** The click that asks for a token may arrive before the blur event of the field it leaves. */
async function untilLeft(form: Form, { sleep }: TokenMeans): Promise<void> {
  for (let ms = 0; form.isTyped() && ms < leaveMsMax; ms += leaveWaitMs) await sleep(leaveWaitMs)
}

const otherRequest: Failure = {
  code: 'invalid_request',
  message: 'this card has its token, made with another request: clear() makes room for a card',
}

export function makeTokens(form: Form, means: TokenMeans): TokenMaker {
  let unanswered: Sent | undefined
  let last: Filling | undefined
  let isUnderWay = false
  const create = async ({
    key,
    request,
    timeoutMs,
  }: CheckedRequest): Promise<CardToken | Failure> => {
    const digits = form.digits()
    const filling = { data: JSON.stringify(dataOf(digits)), request: JSON.stringify(request) }
    if (last?.data === filling.data) {
      return last.request === filling.request ? last.token : otherRequest
    }
    const body = JSON.stringify({ ...request, type: 'card', data: dataOf(digits) })
    const sent = isSame(unanswered, key, body)
      ? unanswered
      : { key, body, idempotencyKey: means.randomHex(idempotencyKeyBytes) }
    unanswered = sent
    // Also without an answer: the vault may have it.
    form.spend(true)
    const untilMs = means.elapsedMs() + timeoutMs
    const answer = await send(means, { url: means.url, untilMs, ...sent })
    const failure = failureOf(answer)
    const isCleared = unanswered !== sent
    if (failure?.code !== 'unavailable') unanswered = undefined
    if (failure !== undefined) {
      if (failure.code !== 'unavailable') form.spend(false)
      return failure
    }
    const made = tokenOf(answer?.body, digits.number)
    if ('id' in made && !isCleared) last = { ...filling, token: made }
    return made
  }
  return {
    async make(message) {
      if (isUnderWay) return { code: 'invalid_request', message: 'a token is being made already' }
      const asked = askedOf(message)
      if ('code' in asked) return asked
      isUnderWay = true
      try {
        await untilLeft(form, means)
        return check(form) ?? (await create(asked))
      } finally {
        isUnderWay = false
      }
    },
    forget() {
      unanswered = last = undefined
    },
  }
}
