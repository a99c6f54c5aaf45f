import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import {
  fingerprint,
  logDigest,
  termDigest,
  uniqueDigest,
  makeKeys,
  writeAuditDigest,
} from '../../../src/crypto/keyring.ts'
import { createKeyring, decodeKeyring, encodeKeyring } from '../../../src/crypto/keyring-format.ts'
import { seededBytes } from '../../support/seeded.ts'

const key0 = new Uint8Array(32)
const keyringOf = (seed: number) => createKeyring(seededBytes(seed), 0)

describe('the keyring', () => {
  test('is the same after encoding and decoding', () => {
    const keyring = keyringOf(1)
    const decoded = decodeKeyring(encodeKeyring(keyring))
    expect(encodeKeyring(decoded)).toEqual(encodeKeyring(keyring))
  })

  test('says by its format if its vault keeps a sum over its rows', () => {
    expect(keyringOf(1).keepsSum).toBe('everywhere')
    for (const [format, keepsSum] of [
      [3, 'nowhere'],
      [4, 'folder'],
      [5, 'everywhere'],
    ] as const) {
      const encoded = encodeKeyring({ ...keyringOf(1), keepsSum })
      expect(encoded[0]).toBe(format)
      expect(decodeKeyring(encoded).keepsSum).toBe(keepsSum)
    }
  })

  test('keeps when its keys were made, and the keyrings before', () => {
    const [first] = keyringOf(1).dataKeys
    const dataKeys = [
      { number: 1, state: 'current' as const, madeMs: 2 ** 41, key: first?.key ?? key0 },
    ]
    const replaced = [Buffer.from('ab'), Buffer.alloc(0), Buffer.alloc(900, 7)]
    const decoded = decodeKeyring(encodeKeyring({ ...keyringOf(1), dataKeys, replaced }))
    expect(decoded.dataKeys[0]?.madeMs).toBe(2 ** 41)
    expect(decoded.replaced.map(each => Buffer.from(each))).toEqual(replaced)
  })

  test('refuses a keyring of before that is longer than what is there', () => {
    const encoded = encodeKeyring({ ...keyringOf(1), replaced: [new Uint8Array(3)] })
    expect(decodeKeyring(Buffer.from(encoded)).replaced).toEqual([new Uint8Array(3)])
    const changed = Buffer.from(encoded)
    changed[encoded.length - 4] = 4
    expect(() => decodeKeyring(changed)).toThrow('expected layout')
  })

  test('refuses another length, state and number of current keys', () => {
    const encoded = Buffer.from(encodeKeyring(keyringOf(1)))
    const changed = (at: number, value: number) => {
      const copy = Buffer.from(encoded)
      copy[at] = value
      return copy
    }
    const stateAt = 1 + 64 + 1 + 4
    const countAt = 1 + 64
    const idsHaveErasAt = encoded.length - 2
    for (let length = 0; length < encoded.length; length += 1) {
      expect(() => decodeKeyring(encoded.subarray(0, length))).toThrow('layout')
    }
    expect(() => decodeKeyring(Buffer.concat([encoded, encoded]))).toThrow('layout')
    expect(() => decodeKeyring(changed(countAt, 0))).toThrow('layout')
    expect(() => decodeKeyring(changed(countAt, 2))).toThrow('layout')
    expect(() => decodeKeyring(changed(idsHaveErasAt, 0))).toThrow('layout')
    expect(() => decodeKeyring(changed(stateAt, 7))).toThrow('unknown state')
    expect(() => decodeKeyring(changed(stateAt, 1))).toThrow('exactly one current key')
  })

  test.each([
    [0, 'older ones were never released: export its tokens'],
    [2, 'older ones were never released: export its tokens'],
    [6, 'use the newer coffer that wrote it'],
  ])('of format %p is refused, and what to do is said', (format, says) => {
    const encoded = encodeKeyring(keyringOf(1))
    encoded[0] = format
    const told = `the keyring is of format ${format}, and this coffer reads format 5`
    expect(() => decodeKeyring(encoded)).toThrow(told)
    expect(() => decodeKeyring(encoded)).toThrow(says)
  })
})

describe('key scopes', () => {
  const keys = makeKeys(keyringOf(1))

  test('give each tenant, purpose and installation other keys', () => {
    const other = makeKeys(keyringOf(2))
    const scopes = [keys.tenant('a'), keys.tenant('b'), keys.installation, other.tenant('a')]
    const all = scopes.flatMap(scope => [
      scope.indexKey,
      scope.fingerprintKey,
      scope.recordKey(scope.currentKeyNumber),
    ])
    expect(new Set(all.map(key => Buffer.from(key).toString('hex'))).size).toBe(all.length)
  })

  test('give a tenant the same keys again', () => {
    expect(makeKeys(keyringOf(1)).tenant('a').indexKey).toEqual(keys.tenant('a').indexKey)
    expect(keys.tenant('a')).toBe(keys.tenant('a'))
  })

  test('refuse a key number that is not there', () => {
    expect(() => keys.tenant('a').recordKey(2)).toThrow('unknown key')
  })

  test('seal under the current key, open under readable ones, and know no retired one', () => {
    const { dataKeys, ...others } = keyringOf(1)
    const [first] = dataKeys.map(({ key }) => key)
    const key = (fill: number) => new Uint8Array(32).fill(fill)
    const scope = makeKeys({
      ...others,
      dataKeys: [
        { number: 1, state: 'readable', madeMs: 0, key: first ?? key(1) },
        { number: 3, state: 'current', madeMs: 0, key: key(3) },
      ],
    }).tenant('a')
    expect(scope.currentKeyNumber).toBe(3)
    expect(scope.recordKey(1)).toEqual(keys.tenant('a').recordKey(1))
    expect(scope.recordKey(3)).not.toEqual(scope.recordKey(1))
    expect(() => scope.recordKey(2)).toThrow('unknown key')
  })

  test('are not made without a current key', () => {
    const { dataKeys, ...others } = keyringOf(1)
    const readable = dataKeys.map(entry => ({ ...entry, state: 'readable' as const }))
    expect(() => makeKeys({ ...others, dataKeys: readable })).toThrow('no current key')
    expect(() => makeKeys({ ...others, dataKeys: [] })).toThrow('no current key')
  })
})

describe('another keyring of the same installation', () => {
  const fresh = (fill: number) => new Uint8Array(32).fill(fill)

  /** Its data keys are made anew: the process that adopts a keyring wipes the one before. */
  const withKeys = (...numbers: readonly number[]) => ({
    ...keyringOf(1),
    dataKeys: numbers.map(number => {
      const state = number === numbers.at(-1) ? ('current' as const) : ('readable' as const)
      return { number, state, madeMs: 0, key: fresh(number) }
    }),
  })
  const copyOf = (key: Uint8Array) => Buffer.from(key).toString('hex')

  test('says if the vault keeps a sum, with the same keys for it', () => {
    const keys = makeKeys({ ...withKeys(1), keepsSum: 'nowhere' })
    expect(keys.keepsSum).toBe('nowhere')
    const { sumKeys } = keys
    keys.adopt(withKeys(1, 2))
    expect(keys.keepsSum).toBe('everywhere')
    expect(keys.sumKeys).toEqual(sumKeys)
  })

  test('seals under its key, and finds and opens as before', () => {
    const keys = makeKeys(withKeys(1))
    const before = keys.tenant('a')
    const own = before.recordKey(1)
    const [record, index] = [copyOf(own), copyOf(before.indexKey)]
    keys.adopt(withKeys(1, 2))
    const after = keys.tenant('a')
    expect([before.currentKeyNumber, after.currentKeyNumber]).toEqual([1, 2])
    expect(keys.installation.currentKeyNumber).toBe(2)
    expect([copyOf(after.recordKey(1)), copyOf(after.indexKey)]).toEqual([record, index])
    expect(after.recordKey(2)).toEqual(makeKeys(withKeys(1, 2)).tenant('a').recordKey(2))
    expect(after.recordKey(1)).toBe(own)
    // An operation that began before may meet a value that was sealed since.
    expect(before.recordKey(2)).toEqual(after.recordKey(2))
  })

  test('keeps a key that is gone until it is told to wipe it, everywhere', () => {
    const keys = makeKeys(withKeys(1, 2))
    const [scope, other] = [keys.tenant('a'), keys.installation]
    const gone = [scope.recordKey(1), other.recordKey(1)]
    const kept = copyOf(scope.recordKey(2))
    const wipe = keys.adopt(withKeys(2))
    expect(() => keys.tenant('new').recordKey(1)).toThrow('unknown key')
    expect(keys.tenant('a').recordKey(1)).toBe(scope.recordKey(1))
    expect(gone.some(key => copyOf(key) === copyOf(fresh(0)))).toBe(false)
    wipe()
    expect(gone.every(key => copyOf(key) === copyOf(fresh(0)))).toBe(true)
    for (const one of [scope, keys.tenant('a'), other, keys.installation]) {
      expect(() => one.recordKey(1)).toThrow('unknown key')
    }
    expect(copyOf(keys.tenant('a').recordKey(2))).toBe(kept)
  })

  test('leaves nothing of the one before', () => {
    const before = withKeys(1)
    const keys = makeKeys(before)
    const record = copyOf(keys.installation.recordKey(1))
    keys.adopt(withKeys(1, 2))()
    expect(copyOf(keys.installation.recordKey(1))).toBe(record)
    const left = [before.indexKey, before.fingerprintKey, ...before.dataKeys.map(({ key }) => key)]
    expect(left.map(copyOf)).toEqual(left.map(() => copyOf(fresh(0))))
    expect(copyOf(keys.tenant('b').recordKey(1))).toBe(
      copyOf(makeKeys(withKeys(1)).tenant('b').recordKey(1)),
    )
  })

  test('is looked for where a value names a key that is not known', () => {
    const found: (() => void)[] = []
    const keys = makeKeys(withKeys(1), () => found.push(keys.adopt(withKeys(1, 2))))
    const scope = keys.tenant('a')
    expect(scope.recordKey(1)).toEqual(makeKeys(withKeys(1)).tenant('a').recordKey(1))
    expect(found.length).toBe(0)
    expect(scope.recordKey(2)).toEqual(makeKeys(withKeys(2)).tenant('a').recordKey(2))
    expect(found.length).toBe(1)
    expect(() => scope.recordKey(3)).toThrow('unknown key')
  })
})

test('many key scopes need few memory maps', () => {
  const countMaps = () => readFileSync('/proc/self/maps', 'latin1').split('\n').length
  const before = countMaps()
  const keys = makeKeys(keyringOf(3))
  const scopes = Array.from({ length: 500 }, (_, index) => keys.tenant(`tenant-${index}`))
  expect(countMaps() - before).toBeLessThan(scopes.length / 4)
  const shown = scopes.map(({ indexKey }) => Buffer.from(indexKey).toString('hex'))
  expect(new Set(shown).size).toBe(scopes.length)
})

describe('digests', () => {
  const scope = makeKeys(keyringOf(1)).tenant('a')

  test('have fixed lengths', () => {
    expect(uniqueDigest(scope, 'token-id', 'x').length).toBe(32)
    expect(termDigest(scope, 'token-type', 'x').length).toBe(16)
  })

  test('differ by label and by where one field ends', () => {
    const shown = (...fields: string[]) =>
      Buffer.from(uniqueDigest(scope, 'token-metadata', ...fields)).toString('hex')
    const label = Buffer.from(uniqueDigest(scope, 'token-id', 'ab')).toString('hex')
    expect(new Set([shown('ab'), shown('a', 'b'), shown('', 'ab'), label]).size).toBe(4)
  })

  test('of ids in a log are the same for one id, and others under other keys', () => {
    const digest = logDigest(makeKeys(keyringOf(1)), 'order-17')
    expect(digest).toMatch(/^[\w-]{22}$/)
    expect(logDigest(makeKeys(keyringOf(1)), 'order-17')).toBe(digest ?? '')
    expect(logDigest(makeKeys(keyringOf(1)), 'order-18')).not.toBe(digest ?? '')
    expect(logDigest(makeKeys(keyringOf(2)), 'order-17')).not.toBe(digest ?? '')
  })

  test('of fingerprints are 44 characters, equal for equal content of one type and tenant', () => {
    const text = fingerprint(scope, 'card', '4242424242424242')
    expect(text).toMatch(/^[1-9A-HJ-NP-Za-km-z]{44}$/)
    expect(fingerprint(scope, 'card', '4242424242424242')).toBe(text)
    expect(fingerprint(scope, 'token', '4242424242424242')).not.toBe(text)
    const otherTenant = makeKeys(keyringOf(1)).tenant('b')
    expect(fingerprint(otherTenant, 'card', '4242424242424242')).not.toBe(text)
  })
})

describe('keys that are wiped', () => {
  // proves S23
  test('are zeros, and are given to nobody', () => {
    const keyring = keyringOf(3)
    const keys = makeKeys(keyring)
    const scope = keys.tenant('a tenant')
    const recordKey = scope.recordKey(1)
    const { indexKey, fingerprintKey, cursorKey } = scope
    const zeros = new Uint8Array(32)
    const { logKey = zeros, auditKey = zeros, auditIndexKey = zeros, eventSeed = zeros } = keys
    const audit = [logKey, auditKey, auditIndexKey, eventSeed]
    const sum = Object.values(keys.sumKeys ?? {})
    expect(new Set(sum.map(key => Buffer.from(key).toString('hex'))).size).toBe(3)
    const all = [recordKey, indexKey, fingerprintKey, cursorKey, ...audit, ...sum]
    const own = [
      keyring.indexKey,
      keyring.fingerprintKey,
      ...keyring.dataKeys.map(({ key }) => key),
    ]
    for (const key of [...all, ...own]) expect(Buffer.from(key)).not.toEqual(Buffer.alloc(32))
    keys.wipe()
    for (const key of [...all, ...own]) expect(Buffer.from(key)).toEqual(Buffer.alloc(32))
    expect(() => scope.recordKey(1)).toThrow('sealed')
    expect(() => keys.tenant('a tenant')).toThrow('sealed')
    expect(() => keys.installation).toThrow('sealed')
    expect(logDigest(keys, 'an id')).toBeUndefined()
    expect(keys.auditKey).toBeUndefined()
    expect(keys.auditIndexKey).toBeUndefined()
    expect(keys.eventSeed).toBeUndefined()
    expect(keys.sumKeys).toBeUndefined()
    expect(() => writeAuditDigest(keys, new Uint8Array(6), 0, 'kind')).toThrow('sealed')
  })

  test('gave digests of the audit log before, of kind and fields', () => {
    const keys = makeKeys(keyringOf(3))
    const digestOf = (kind: string, ...fields: readonly string[]) => {
      const target = new Uint8Array(8)
      writeAuditDigest(keys, target, 1, kind, ...fields)
      return Buffer.from(target).toString('hex')
    }
    expect(digestOf('a', 'b')).toMatch(/^00[0-9a-f]{12}00$/)
    expect(digestOf('a', 'b')).toBe(digestOf('a', 'b'))
    expect(digestOf('a', 'b')).not.toBe(digestOf('b', 'a'))
    expect(digestOf('a', 'b', 'c')).not.toBe(digestOf('a', 'bc'))
  })
})
