import { expect, test } from 'bun:test'
import { hexOf } from '../../../src/lib/bytes.ts'
import { termDigest, makeKeys } from '../../../src/crypto/keyring.ts'
import { createKeyring } from '../../../src/crypto/keyring-format.ts'
import { seededBytes } from '../../support/seeded.ts'

test('a term stays as it is when others are made', () => {
  const scope = makeKeys(createKeyring(seededBytes(5), 0)).tenant('a')
  const [one, other] = ['one', 'other'].map(text => termDigest(scope, 'token-search-shown', text))
  const again = termDigest(scope, 'token-search-shown', 'one')
  expect([one?.length, other?.length]).toEqual([16, 16])
  expect(hexOf(one ?? again)).toBe(hexOf(again))
  expect(hexOf(other ?? again)).not.toBe(hexOf(again))
})
