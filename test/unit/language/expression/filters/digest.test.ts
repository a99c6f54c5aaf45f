import { describe, expect, test } from 'bun:test'
import { expectDataRefusal, expectParseRefusal, filter } from '../../../../support/expressions.ts'
import { canary } from '../../../../support/refusal.ts'

const what = 'what do ya want for nothing?'

describe('hmac', () => {
  // proves C6.36
  test.each([
    // RFC 2202 section 3 and RFC 4231 section 4.3, test case 2.
    ['sha-1', 'EFFCDF6AE5EB2FA2D27416D5F184DF9C259A7C79'],
    ['sha-256', '5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843'],
    [
      'sha-512',
      '164B7A7BFCF819E2E395FBE73B56E0A387BD64222E831FD610270CD7EA250554' +
        '9758BF75C05A994A6D034F65F8F0E6FDCAEAB1A34D4A6B4B636E070A38BCE737',
    ],
  ])('with %s gives what the RFC gives', (algorithm, output) => {
    expect(filter(`hmac: '${algorithm}', 'Jefe' | to_base16`, what)).toBe(output)
  })

  test('takes numbers as their text, text as UTF-8, and keeps null', () => {
    const hash = (data: unknown) => filter("hmac: 'sha-256', 'k' | to_base64", data)
    expect(hash(42)).toBe(hash('42'))
    expect(hash('é')).toBe('QbCOSDeQYNVWY2MIPavUsvmv1uFpryLSZSLb3F56UTQ=')
    expect(hash(null)).toBeNull()
  })

  test('goes on as text behind its encoder', () => {
    expect(filter("hmac: 'sha-1', 'k' | to_base16 | downcase | size", 'x')).toBe(40)
  })

  // proves C6.36
  test.each([
    'hmac',
    "hmac: 'sha-256'",
    "hmac: 'md5', 'k'",
    "hmac: 'SHA-256', 'k'",
    "hmac: 'sha-256', ''",
    "hmac: 'sha-256', data",
    "hmac: 'sha-256', 1",
  ])('refuses %s', filters => {
    expectParseRefusal(`{{ data | ${filters} | to_base64 }}`)
  })

  test.each(['', '| upcase', '| stringify', "| hmac: 'sha-1', 'k'", "| default: 'x'"])(
    'refuses bytes that go into %j',
    next => {
      expectParseRefusal(`{{ data | hmac: 'sha-256', 'k' ${next} }}`)
      expectParseRefusal(`text {{ data | hmac: 'sha-256', 'k' ${next} }}`)
    },
  )

  test('fails on an object', () => {
    expectDataRefusal("hmac: 'sha-256', 'k' | to_base64", { a: canary })
  })
})

describe('to_base64 and to_base16', () => {
  // proves C6.37
  test.each([
    ['to_base64', 'aé', 'YcOp'],
    ['to_base16', 'aé', '61C3A9'],
    ['to_base64', '', ''],
    ['to_base16', 10, '3130'],
    ['to_base64', null, null],
  ])('%s of %j is %j', (name, data, output) => {
    expect(filter(name, data)).toBe(output)
  })

  test.each(['to_base64', 'to_base16'])('%s takes no argument and no object', name => {
    expectParseRefusal(`{{ data | ${name}: 1 }}`)
    expectDataRefusal(name, [canary])
  })
})
