/**
 * Terms by which a token is found: they are bytes on disk, so none is there without a use.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { makeKeys } from '../../../../src/crypto/keyring.ts'
import { createKeyring } from '../../../../src/crypto/keyring-format.ts'
import {
  sealToken,
  type TokenContents,
  type TokenRecord,
} from '../../../../src/tokens/token-record.ts'
import { seededBytes } from '../../../support/seeded.ts'

const randomBytes = seededBytes(1)
const deps = { keys: makeKeys(createKeyring(randomBytes, 0)), randomBytes }

const record: TokenRecord = {
  id: '00000000-0000-4000-8000-000000000000',
  idIsRandom: true,
  type: 'token',
  containers: ['/general/high/'],
  fingerprint: 'f',
  fingerprintExpression: '{{ data }}',
  searchIndexes: [],
  createdBy: 'a',
  createdAtMs: Date.UTC(2030, 0, 1),
}

function termsOf(change: Partial<TokenRecord>, contents: Partial<TokenContents> = {}): number {
  const { idIsRandom, ...rest } = record
  const whole = 'id' in change ? { ...rest, ...change } : { ...rest, idIsRandom, ...change }
  const nothing = { dataText: '1', metadata: new Map(), searchValues: [], isShownMasked: true }
  return sealToken(deps, 'tenant', whole as TokenRecord, { ...nothing, ...contents }, 1).terms
    .length
}

describe('the terms of a token', () => {
  test('are eight where nothing is asked for', () => {
    expect(termsOf({})).toBe(8)
  })

  test('are one for each container above its own', () => {
    expect(termsOf({ containers: ['/'] })).toBe(7)
    expect(termsOf({ containers: ['/a/'] })).toBe(7)
    expect(termsOf({ containers: ['/a/b/c/'] })).toBe(9)
  })

  test('are three more once it was changed', () => {
    expect(termsOf({ modifiedBy: 'b', modifiedAtMs: Date.UTC(2030, 0, 2) })).toBe(11)
  })

  test('are a few more for an id that was chosen, by its length', () => {
    expect(termsOf({ id: 'abc' })).toBe(9)
    expect(termsOf({ id: 'customer-0042' })).toBe(12)
    expect(termsOf({ id: 'x'.repeat(400) })).toBe(15)
  })

  test('are one for each pair and value that differ when they are folded', () => {
    const pairs: [string, string][] = [
      ['k', 'x'],
      ['K', 'X'],
      ['k2', 'x'],
    ]
    expect(termsOf({}, { metadata: new Map(pairs), searchValues: ['a', 'A', 'b'] })).toBe(12)
  })
})
