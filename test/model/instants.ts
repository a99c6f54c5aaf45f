/**
 * Expiry texts of the model: it writes them itself, so it knows what each means without parsing.
 *
 * Source: contract section 10.
 * @module
 */

export interface Expiry {
  readonly ms: number
  /** Text that must come back: ISO 8601 with the offset that was written. */
  readonly shown: string
}

export const expiryForms = ['iso', 'iso-offset', 'slashed', 'slashed-offset', 'date'] as const
export type ExpiryForm = (typeof expiryForms)[number]

const secondMs = 1_000
const dayMs = 24 * 60 * 60 * secondMs
const offsetMinutes = 330
const offsetText = '+05:30'

const two = (value: number): string => String(value).padStart(2, '0')

/** `2030-01-02T03:04:05.678+05:30` */
const showIso = (ms: number, offset: number): string =>
  new Date(ms + offset * 60 * secondMs).toISOString().slice(0, -1) +
  (offset === 0 ? '+00:00' : offsetText)

export const showUtc = (ms: number): string => showIso(ms, 0)

function showSlashed(ms: number, offset: number): string {
  const date = new Date(ms + offset * 60 * secondMs)
  const hour = date.getUTCHours()
  const day = `${date.getUTCMonth() + 1}/${date.getUTCDate()}/${date.getUTCFullYear()}`
  const time = `${hour % 12 === 0 ? 12 : hour % 12}:${two(date.getUTCMinutes())}`
  return `${day} ${time}:${two(date.getUTCSeconds())} ${hour < 12 ? 'AM' : 'PM'}`
}

/** The texts that were written in this run, with their meaning. All others are mistakes. */
export type Instants = Map<string, Expiry>

/** Writes the instant in that form, as exactly as the form can. */
export function writeExpiry(instants: Instants, form: ExpiryForm, ms: number): string {
  const [text, expiry] = formExpiry(form, ms)
  instants.set(text, expiry)
  return text
}

function formExpiry(form: ExpiryForm, ms: number): readonly [string, Expiry] {
  const wholeMs = Math.floor(ms / secondMs) * secondMs
  const midnightMs = Math.floor(ms / dayMs) * dayMs
  switch (form) {
    case 'iso':
      return [new Date(ms).toISOString(), { ms, shown: showUtc(ms) }]
    case 'iso-offset': {
      const shown = showIso(ms, offsetMinutes)
      return [shown, { ms, shown }]
    }
    case 'slashed':
      return [showSlashed(wholeMs, 0), { ms: wholeMs, shown: showUtc(wholeMs) }]
    case 'slashed-offset': {
      const text = `${showSlashed(wholeMs, offsetMinutes)} ${offsetText}`
      return [text, { ms: wholeMs, shown: showIso(wholeMs, offsetMinutes) }]
    }
    case 'date':
      return [
        showSlashed(midnightMs, 0).split(' ')[0] ?? '',
        { ms: midnightMs, shown: showUtc(midnightMs) },
      ]
  }
}

/** `undefined` for a text that is no instant, or none that lies ahead. */
export function futureExpiry(instants: Instants, text: string, nowMs: number): Expiry | undefined {
  const expiry = instants.get(text)
  return expiry !== undefined && expiry.ms > nowMs ? expiry : undefined
}
