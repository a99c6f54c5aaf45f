/**
 * Refusals under test: each is a 400 without an echo of the request.
 * @module
 */
import { expect } from 'bun:test'
import { inspect } from 'node:util'
import { ApiError } from '../../src/lib/errors.ts'

/** Stands for a secret in refused input: `expectRefusal` fails if it is repeated. */
export const canary = 'c4n4ry-5e17'

const thrownBy = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

/** All that an answer or a log could show of an error. */
const textOf = (error: ApiError): string =>
  [error.message, JSON.stringify(error.fields), String(error), inspect(error.cause)].join('\n')

/**
 * Expects an `invalid_request` with a message for exactly these paths, and no echo of the canary or
 * of `secrets`.
 */
export const expectRefusal = (
  run: () => unknown,
  paths: readonly string[],
  secrets: readonly string[] = [],
): ApiError => {
  const error = thrownBy(run)
  if (!(error instanceof ApiError)) throw new Error('expected a refusal', { cause: error })
  expect(error.kind).toBe('invalid_request')
  expect(error.message).not.toBe('')
  expect(Object.keys(error.fields ?? {}).sort()).toEqual([...paths].sort())
  for (const secret of [canary, ...secrets]) expect(textOf(error)).not.toContain(secret)
  return error
}
