import { describe, expect, test } from 'bun:test'
import {
  checkBank,
  checkUsBankAccountNumber,
  checkUsBankRoutingNumber,
} from '../../../src/rules/token-types.ts'
import { parseJson } from '../../../src/lib/json/parse-json.ts'
import { printJson } from '../../../src/lib/json/json.ts'
import { canary, expectRefusal } from '../../support/refusal.ts'

const refuse = (text: string, paths: readonly string[], secrets: readonly string[] = []) =>
  expectRefusal(() => checkBank(parseJson(text), 'data'), paths, secrets)

describe('checkBank', () => {
  // proves C5.13
  test.each([
    '{"routing_number":"021000021","account_number":"1"}',
    '{"account_number":"00012345678901234","routing_number":"110000000"}',
    '{"x":1.0,"routing_number":"021000021","account_number":"0","constructor":null}',
  ])('takes %s as it is', text => {
    expect(printJson(checkBank(parseJson(text), 'data'))).toBe(text)
  })

  test.each(['""', '"123456789012345678"', '"12-34"', '123', 'null', '"\uff11"'])(
    'refuses the account number %s',
    account => {
      refuse(
        `{"routing_number":"021000021","account_number":${account}}`,
        ['data.account_number'],
        ['021000021', '1234567'],
      )
    },
  )

  test.each(['"021000020"', '"21000021"', '21000021', 'null', '"0210000210"', '"021 000021"'])(
    'refuses the routing number %s',
    routing => {
      refuse(
        `{"routing_number":${routing},"account_number":"1"}`,
        ['data.routing_number'],
        ['2100'],
      )
    },
  )

  test('reports both faults at once and repeats nothing', () => {
    const paths = ['data.routing_number', 'data.account_number']
    refuse('{}', paths)
    refuse(`{"routing_number":"${canary}","account_number":"${canary}"}`, paths)
  })

  test.each(['null', '"021000021"', '[]', '1'])('refuses %s in the place of an object', text => {
    refuse(text, ['data'], ['021000021'])
  })
})

describe('the bare numbers of US banks', () => {
  // proves C5.15
  test.each(['123', '00000000000000000', '12345678901234567'])('take the account %s', account => {
    expect(checkUsBankAccountNumber(account, 'data')).toBe(account)
  })

  test.each(['', '12', '123456789012345678', '12-3', ' 123', '12a'])(
    'refuse the account %j',
    account => {
      expectRefusal(() => checkUsBankAccountNumber(account, 'data'), ['data'], ['23456'])
    },
  )

  // proves C5.16
  test('take a routing number whose check sum holds', () => {
    expect(checkUsBankRoutingNumber('021000021', 'data')).toBe('021000021')
  })

  // proves C5.16
  test.each(['021000020', '0210-0002-1', '000000000', ''])(
    'refuse the routing number %j',
    routing => {
      expectRefusal(() => checkUsBankRoutingNumber(routing, 'data'), ['data'], ['2100', '0210'])
    },
  )

  test('refuse JSON numbers, which lose leading zeros', () => {
    expectRefusal(() => checkUsBankAccountNumber(12345, 'data'), ['data'], ['12345'])
    expectRefusal(() => checkUsBankRoutingNumber(110000000, 'data'), ['data'], ['110000000'])
  })
})
