/**
 * By which names the headers of this interface are read: its own, and those of clients that name
 * them otherwise. Source: contract section 1.
 * @module
 */
import { keptFor } from '../kept.ts'
import type { Settings } from '../settings.ts'

/** In lower case, its own name first. */
export interface HeaderNames {
  readonly key: readonly string[]
  readonly trace: readonly string[]
  readonly idempotency: readonly string[]
}

export const headerNamesOf = keptFor(({ headerPrefix, keyHeaders }: Settings): HeaderNames => {
  const prefixes = ['svc', ...headerPrefix]
  const under = (name: string) => prefixes.map(prefix => `${prefix}-${name}`)
  return {
    key: [...new Set([...under('api-key'), ...keyHeaders])],
    trace: under('trace-id'),
    idempotency: under('idempotency-key'),
  }
})

/**
 * What every header of these names agrees on: which one of two counts is nobody's guess.
 * @returns `undefined` where none is sent, `null` where two differ
 */
export function agreedHeader(
  { headers }: Request,
  names: readonly string[],
): string | null | undefined {
  let agreed: string | undefined
  for (const name of names) {
    const value = headers.get(name)
    if (value === null) continue
    if (agreed !== undefined && agreed !== value) return null
    agreed = value
  }
  return agreed
}
