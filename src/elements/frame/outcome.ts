/**
 * Turns an answer of the vault into a message for the page: the token, masked, or an error. It
 * holds nothing that was typed, whatever the vault says.
 * @module
 */
import { hiddenDigitsMin } from '../limits.ts'
import type { Failure, FieldName, MaskedCard } from '../protocol.ts'
import { digitsOf } from './digits.ts'
import type { VaultAnswer } from './vault.ts'

interface Problem {
  readonly detail?: unknown
  readonly errors?: unknown
}

const detailOf = (body: unknown): string => {
  const { detail } = (body ?? {}) as Problem
  return typeof detail === 'string' ? detail : ''
}

const fieldsByPath: Readonly<Record<string, FieldName>> = {
  'data.number': 'number',
  'data.expiration_month': 'expiry',
  'data.expiration_year': 'expiry',
  'data.cvc': 'cvc',
}

function fieldsOf(body: unknown): readonly FieldName[] {
  const { errors } = (body ?? {}) as Problem
  const fields = Object.keys(Object(errors) as object).map(path => fieldsByPath[path])
  return [...new Set(fields)].filter(field => field !== undefined)
}

const unavailable = 'the vault made no token'

function failureFor(status: number, body: unknown): Failure {
  const detail = detailOf(body)
  if (status === 401 || status === 403) {
    return { code: 'key_refused', message: `the vault refused the key (${status}): ${detail}` }
  }
  const fields = status === 400 ? fieldsOf(body) : []
  if (fields.length > 0) return { code: 'invalid_card', message: 'the vault refused it', fields }
  if (status >= 400 && status < 500 && ![404, 408, 429].includes(status)) {
    return { code: 'invalid_request', message: `the vault refused it (${status}): ${detail}` }
  }
  return { code: 'unavailable', message: `${unavailable} (${status}): ${detail}` }
}

/** @returns `undefined` for a success */
export function failureOf(answer: VaultAnswer | undefined): Failure | undefined {
  if (answer === undefined) {
    return { code: 'unavailable', message: `${unavailable}: no answer came in time` }
  }
  const { status, traceId, body } = answer
  if (status === 200 || status === 201) return undefined
  const facts = { status, ...(traceId === undefined ? {} : { traceId }) }
  return { ...failureFor(status, body), ...facts }
}

const isIntegerWithin = (value: unknown, min: number, max: number): value is number =>
  Number.isInteger(value) && Number(value) >= min && Number(value) <= max

/**
 * Returns the masked number and the expiry; nothing else, since an equal token of earlier may have
 * any mask.
 * @param number as it was typed, which a mask must not show
 */
export function maskedOf(body: unknown, number: string): MaskedCard {
  const { data } = Object(body) as { readonly data?: unknown }
  const shown = Object(data) as Readonly<Record<string, unknown>>
  const { number: masked, expiration_month: month, expiration_year: year } = shown
  const isMasked =
    typeof masked === 'string' &&
    masked.length <= number.length &&
    digitsOf(masked).length <= number.length - hiddenDigitsMin
  return {
    ...(isMasked ? { number: masked } : {}),
    ...(isIntegerWithin(month, 1, 12) ? { expiration_month: month } : {}),
    ...(isIntegerWithin(year, 1_000, 9_999) ? { expiration_year: year } : {}),
  }
}

export function idOf(body: unknown): string | undefined {
  const { id } = Object(body) as { readonly id?: unknown }
  return typeof id === 'string' ? id : undefined
}
