/**
 * Bounds of lists in a request: they are looked at before what stands in the lists.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { ApiError } from '../../../../src/lib/errors.ts'
import { checkSchema } from '../../../../src/http/bodies.ts'
import {
  containerCharsMax,
  containersMax,
  searchIndexesMax,
} from '../../../../src/limits/limits.ts'
import { composeContainers } from '../../../../src/tokens/write/compose.ts'
import { defaultSettings } from '../../../../src/settings/settings.ts'
import { createTokenSchema, updateTokenSchema } from '../../../../src/tokens/schema.ts'
import { expectRefusal } from '../../../support/refusal.ts'

const cardNumber = '4242424242424242'

describe('a container', () => {
  const plan = (container: string) => composeContainers(defaultSettings, [container])

  test('that is too long is refused for its length, whatever numbers stand in it', () => {
    const long = `/${cardNumber}/${'4242-'.repeat(containerCharsMax)}/`
    const error = expectRefusal(() => plan(long), ['containers[0]'], [cardNumber])
    expect(error.message).toContain(`${containerCharsMax} characters`)
  })

  test('that is well made is refused for a card number', () => {
    const error = expectRefusal(() => plan(`/${cardNumber}/`), ['containers[0]'], [cardNumber])
    expect(error.message).toContain('card number')
    expect(() => plan('/4242/')).not.toThrow()
  })
})

describe.each([
  ['search_indexes', '{{ data }}', searchIndexesMax],
  ['containers', '/a/', containersMax],
])('the schema of %s', (name, item, most) => {
  const body = (count: number) => ({ type: 'token', data: 1, [name]: Array(count).fill(item) })

  test.each([
    ['a create', createTokenSchema],
    ['an update', updateTokenSchema],
  ])(`takes ${most} in %s and refuses one more, at the list`, (_, schema) => {
    expect(() => checkSchema(schema, body(most))).not.toThrow()
    const error = expectRefusal(() => checkSchema(schema, body(most + 1)), [name])
    expect(error).toBeInstanceOf(ApiError)
  })
})
