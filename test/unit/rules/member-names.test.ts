import { describe, expect, test } from 'bun:test'
import { assertMemberNames } from '../../../src/rules/member-names.ts'
import { ApiError } from '../../../src/lib/errors.ts'
import type { Json } from '../../../src/lib/json/json.ts'

function errorsOf(type: string, members: Readonly<Record<string, Json>>) {
  try {
    assertMemberNames(type, new Map(Object.entries(members)), 'data')
    return undefined
  } catch (error) {
    return (error as ApiError).fields
  }
}

const meant = (name: string) => ({
  [`data.${name}`]: [`unknown member: did you mean \`${name}\`?`],
})

const misnamed: readonly (readonly [given: string, name: string])[] = [
  ['nummber', 'number'],
  ['Number', 'number'],
  ['NUMBER', 'number'],
  ['numbers', 'number'],
  ['pan', 'number'],
  ['cardNumber', 'number'],
  ['card_number', 'number'],
  ['exp_month', 'expiration_month'],
  ['expMonth', 'expiration_month'],
  ['expirationMonth', 'expiration_month'],
  ['expiration-month', 'expiration_month'],
  ['expiraton_month', 'expiration_month'],
  ['expiry', 'expiration_month'],
  ['exp_year', 'expiration_year'],
  ['expiry_year', 'expiration_year'],
  ['expiration_yaer', 'expiration_year'],
  ['cvv', 'cvc'],
  ['cvv2', 'cvc'],
  ['CVC', 'cvc'],
  ['cvc2', 'cvc'],
  ['cv', 'cvc'],
  ['security_code', 'cvc'],
  ['securityCode', 'cvc'],
]

describe('the data of a card', () => {
  // proves C1.19
  test.each(misnamed)('may not have %s, which is told to be %s', (given, name) => {
    expect(errorsOf('card', { number: '4242424242424242', [given]: '1' })).toEqual(meant(name))
  })

  test.each([
    'name',
    'cardholder_name',
    'brand',
    'bin',
    'zip',
    'city',
    'country',
    'issuer',
    'last4',
    'funding',
    'network',
    'type',
    'note',
    '',
    '__proto__',
    'x'.repeat(5_000),
  ])('may have %j, which is the caller’s own', name => {
    expect(errorsOf('card', { number: '4242424242424242', [name]: '1' })).toBeUndefined()
  })

  test('is told of all at once, each in its place', () => {
    const errors = errorsOf('card', { pan: '4', cvv: '1', cvv2: '2', expYear: 1 })
    expect(errors).toEqual({ ...meant('number'), ...meant('cvc'), ...meant('expiration_year') })
  })

  // proves C1.19
  test('may be rid of such a member by null', () => {
    expect(errorsOf('card', { cvv: null })).toBeUndefined()
  })
})

// proves C1.19
test('the data of a bank is looked at in the same way', () => {
  const names = ['routing', 'routingNumber', 'aba', 'account', 'acct_number', 'acount_number']
  const told = names.map(name => Object.keys(errorsOf('bank', { [name]: '1' }) ?? {}))
  const [routing, account] = [['data.routing_number'], ['data.account_number']]
  expect(told).toEqual([routing, routing, routing, account, account, account])
  expect(errorsOf('bank', { account_type: 'x', account_holder: 'y', cvv: '1' })).toBeUndefined()
})

test('data of other types has names of its own', () => {
  expect(errorsOf('token', { cvv: '1', nummber: '2' })).toBeUndefined()
})
