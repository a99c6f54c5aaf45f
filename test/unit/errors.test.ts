import { describe, expect, test } from 'bun:test'
import {
  ApiError,
  assertStored,
  attempt,
  attemptLater,
  expectedBy,
  invalid,
  placesOf,
} from '../../src/lib/errors.ts'
import { canary } from '../support/refusal.ts'

const here = / \| at [^\n]*errors\.test\.ts:[0-9]+:[0-9]+/

test.each([
  canary,
  `${canary}\n    at ${canary} (${canary}.ts:1:1)\n${canary}`,
  `\n    at ${canary}`,
  '',
])('the places of an error do not hold its message', message => {
  const places = placesOf(new RangeError(message))
  expect(places).toStartWith('RangeError | at ')
  expect(places).toMatch(here)
  expect(places).not.toContain(canary)
  expect(places).not.toContain('\n')
})

test('an error whose message was changed does not show the one it began with', () => {
  const error = new RangeError(`${canary}\n    at ${canary}`)
  expect(error.stack).toContain(canary)
  error.message = 'another'
  expect(placesOf(error)).toBe('RangeError')
})

test('a name that is no name, and what is no error, are not shown', () => {
  const named = Object.assign(new Error(canary), { name: `${canary} 1` })
  expect(placesOf(named)).toStartWith('an unknown error')
  expect(placesOf(named)).not.toContain(canary)
  for (const thrown of [canary, { name: canary, message: canary, stack: canary }, undefined]) {
    expect(placesOf(thrown)).toBe('an unknown error')
  }
})

test('a cause is kept where there is one, and none is made up', () => {
  const cause = new Error(canary)
  expect(new ApiError('internal', 'why', undefined, cause).cause).toBe(cause)
  expect(new ApiError('internal', 'why')).not.toHaveProperty('cause')
})

test('an error without a stack shows its name alone', () => {
  const error = new RangeError(canary)
  delete error.stack
  expect(placesOf(error)).toBe('RangeError')
})

describe('stored bytes', () => {
  test('that hold pass; that contradict each other are corrupt', () => {
    expect(() => assertStored(true, 'a format')).not.toThrow()
    const corrupt = expect.objectContaining({ kind: 'storage_corrupt' })
    expect(() => assertStored(false, 'a format')).toThrow(corrupt)
  })

  test('that are corrupt are nothing; every other error stays one', async () => {
    expect(attempt(() => 1)).toBe(1)
    expect(attempt(() => assertStored(false, 'a format'))).toBeUndefined()
    const alike = Object.assign(new Error('why'), { kind: 'storage_corrupt' })
    const others = [new ApiError('conflict', 'why'), new RangeError('why'), alike]
    for (const error of others) {
      expect(() =>
        attempt(() => {
          throw error
        }),
      ).toThrow(error)
      expect(await attemptLater(Promise.reject(error)).catch((thrown: unknown) => thrown)).toBe(
        error,
      )
    }
    const corrupt = async () => assertStored(false, 'a format')
    expect(await attemptLater(corrupt())).toBeUndefined()
    expect(await attemptLater(Promise.resolve(1))).toBe(1)
  })
})

test('an expectation is told without its place, and where there is none as the message', () => {
  expect(expectedBy(invalid('data.number', 'expected digits'))).toBe('expected digits')
  expect(expectedBy(new ApiError('not_found', 'There is none.'))).toBe('There is none.')
  expect(expectedBy(new ApiError('invalid_request', 'wrong', {}))).toBe('wrong')
})
