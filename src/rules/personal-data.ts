/**
 * Personal data: the checks of each type on its data, which is kept as it was sent.
 *
 * Source: contract section 5. decision: only the form of an address or number is checked, not
 * whether it exists: its issuers change that.
 * @module
 */
import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import isEmail from 'validator/es/lib/isEmail.js'
import isIBAN from 'validator/es/lib/isIBAN.js'
import { invalid } from '../lib/errors.ts'
import { isJsonObject, type Json } from '../lib/json/json.ts'
import { personalTextCharsMax } from '../limits/limits.ts'

const isText = (value: Json | undefined): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= personalTextCharsMax

/** The library allows these within quotes, where they would start another line of a message. */
const noPartOfEmail = /[\p{Cc}\p{Zl}\p{Zp}]|^"@/u

/** @throws ApiError `invalid_request` unless it is an RFC 5321 address, without a display name */
export const checkEmail = (data: Json, at: string): Json => {
  const isWhole = isText(data) && !noPartOfEmail.test(data)
  if (isWhole && isEmail(data, { allow_utf8_local_part: true })) return data
  throw invalid(at, 'expected an e-mail address such as ada@example.com')
}

/** @throws ApiError `invalid_request` unless it is a number of E.164, only `+` and digits */
export const checkPhone = (data: Json, at: string): Json => {
  const isWritten = typeof data === 'string' && /^\+[1-9][0-9]{4,14}$/.test(data)
  if (isWritten && parsePhoneNumberFromString(data)?.isPossible() === true) return data
  throw invalid(at, 'expected a phone number as E.164 writes it, such as +4930123456')
}

/** @throws ApiError `invalid_request` unless length and check digits are those of its country */
export const checkIban = (data: Json, at: string): Json => {
  if (isText(data) && /^[A-Za-z0-9 ]+$/.test(data) && isIBAN(data)) return data
  throw invalid(at, 'expected an IBAN of the length of its country whose check digits hold')
}

/** @throws ApiError `invalid_request` unless it is a text, or an object of texts */
const textOrTexts =
  (expected: string) =>
  (data: Json, at: string): Json => {
    if (isText(data)) return data
    const texts = isJsonObject(data) ? [...data.values()].filter(value => value !== null) : []
    if (texts.length > 0 && texts.every(isText)) return data
    throw invalid(at, expected)
  }

export const checkName = textOrTexts(
  'expected a text, or an object of texts such as { "first": …, "last": … }',
)

export const checkAddress = textOrTexts(
  'expected a text, or an object of texts such as { "street": …, "city": …, "country": … }',
)

/** @throws ApiError `invalid_request` unless it is an existing day that is not in the future */
export const checkDateOfBirth = (data: Json, at: string, nowMs: number): Json => {
  const isWritten = typeof data === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(data)
  const dayMs = isWritten ? Date.parse(`${data}T00:00:00Z`) : NaN
  // A day that its month lacks comes back as another day, or not at all.
  const isDay = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(String(data))
  if (isDay && dayMs <= nowMs) return data
  throw invalid(at, 'expected a day in the past as ISO 8601 writes it, such as 1990-12-31')
}
