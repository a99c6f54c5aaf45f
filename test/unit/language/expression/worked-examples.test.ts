import { describe, expect, test } from 'bun:test'
import { filter } from '../../../support/expressions.ts'

const dashed = '3622-7206-2716-5567'
const expiry = { number: '3622720627165567', expiration_month: 10, expiration_year: 2028 }
const bicycle = { bicycle: { color: 'red', price: 19.95 } }

describe('the worked examples of contract section 6', () => {
  // proves C6.44
  test.each([
    ['Sensitive Value', 'reveal_last: 4', 'XXXXXXXXXXXalue'],
    ['4242-4242-4242-4242', 'reveal_last: 4', 'XXXX-XXXX-XXXX-4242'],
    ['123-45-6789', "reveal_last: 4, '#'", '###-##-6789'],
    ['36227206271667', 'reveal_last: 6', 'XXXXXXXX271667'],
    [dashed, 'reveal: 6', '3622-7XXXXXXXXXXXXX'],
    [dashed, "reveal: 7, 5, '#'", '3622-72#######-5567'],
    [dashed, `reveal: 7, 4, '#', "-"`, '3622-72##-####-5567'],
    [dashed, 'reveal: 10, 9', 'X'.repeat(19)],
    [dashed, "card_mask: 'true','true','#','-'", '3622-7206-####-5567'],
    ['3622720627165567', "card_mask: 'true','false','X','-'", '36227206XXXXXXXX'],
    [expiry, "card_exp: 'MM/YY'", '10/28'],
    [expiry, "card_exp: 'YYYY-MM'", '2028-10'],
    ['1234', "pad_left: 6,'0'", '001234'],
    ['1234', "pad_right: 6,'X'", '1234XX'],
    [bicycle, "json: '$.bicycle.price'", 19.95],
    [8.99, 'stringify', '8.99'],
    [{ price: 19.95, color: 'red' }, 'stringify', '{"color":"red","price":19.95}'],
    ['John Doe', "split: ' ' | last | upcase", 'DOE'],
    ['111-22-3333', "remove: '-'", '111223333'],
    ['111-22-3333', 'last4', '3333'],
    ['111-22-3333', "remove: '-' | last4", '3333'],
  ])('%j | %s', (data, filters, output) => {
    expect(filter(filters, data)).toBe(output)
  })

  // The contract's row gives this output for `secretText`. By RFC 2104 it is that of `secret`, as
  // any other implementation of HMAC shows, so the input of the row is taken for a slip.
  test("secret | hmac: 'sha-256','secretKeyValue' | to_base64", () => {
    expect(filter("hmac: 'sha-256','secretKeyValue' | to_base64", 'secret')).toBe(
      'Q31M2Y1rHnxT+hzO4XAlrfYrLRDX26/fmgadtcmpzhQ=',
    )
    expect(filter("hmac: 'sha-256','secretKeyValue' | to_base64", 'secretText')).toBe(
      'IQEOEVbU1YuKZeuhAvcYwUbzZ6SnkUPeJyy5aZY6KMs=',
    )
  })
})
