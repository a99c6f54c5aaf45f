/**
 * Invariants after every execution, for any input.
 *
 * @module
 */
import { ApiError } from '../../src/lib/errors.ts'

/** Marks text in the dictionaries that a refusal must not repeat. */
export const canary = 'c4n4ry-5e17'

export function assert(condition: boolean, mustHold: string): asserts condition {
  if (!condition) throw new Error(`must hold: ${mustHold}`)
}

export const assertEqual = (one: unknown, other: unknown, mustHold: string): void =>
  assert(Bun.deepEquals(one, other, true), mustHold)

function assertRefusal(thrown: unknown): asserts thrown is ApiError {
  if (!(thrown instanceof ApiError)) throw thrown
  assert(thrown.kind === 'invalid_request', 'a refusal is an invalid request')
  const told = `${thrown.message} ${JSON.stringify(thrown.fields)}`
  assert(!told.includes(canary), 'a refusal repeats nothing of its input')
}

const empty: readonly object[] = [{}, []]

/** A loop over an empty object shows pollution of its prototype; that is cheap. */
function assertPlain(): void {
  for (const object of empty) {
    for (const _ in object) throw new Error('must hold: no prototype has a new member')
  }
}

/** @returns the result; `undefined` for an allowed refusal. @throws anything else */
export function resultOf<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (thrown) {
    assertRefusal(thrown)
    return undefined
  } finally {
    assertPlain()
  }
}

/** Separates two texts of one input; none of the languages needs this character. */
export const separator = '\x01'

/** Splits at the separator; without one, the second part is `otherwise`. */
export function splitInput(input: string, otherwise: string): readonly [string, string] {
  const at = input.indexOf(separator)
  return at < 0 ? [input, otherwise] : [input.slice(0, at), input.slice(at + 1)]
}
