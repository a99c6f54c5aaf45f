/**
 * Texts that are addresses to send to, what is read in them, and texts that are refused.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { authorityOf, parseDestination } from '../../src/egress/destination.ts'

describe('a destination', () => {
  test.each([
    ['https://hooks.example', 'hooks.example', 443, '/'],
    ['HTTPS://Hooks.Example:443/A?b=C', 'hooks.example', 443, '/A?b=C'],
    ['https://hooks.example.', 'hooks.example', 443, '/'],
    ['https://hooks.example.:8443/x', 'hooks.example', 8_443, '/x'],
    ['https://hooks.example?key=a/b@c', 'hooks.example', 443, '/?key=a/b@c'],
    [
      'https://a_b.xn--bcher-kva.example:65535/{{x}}',
      'a_b.xn--bcher-kva.example',
      65_535,
      '/%7B%7Bx%7D%7D',
    ],
    ['https://intranet/x', 'intranet', 443, '/x'],
    ['https://7.example', '7.example', 443, '/'],
    ['https://8.8.8.8:1/x', '8.8.8.8', 1, '/x'],
    ['https://127.0.0.1/', '127.0.0.1', 443, '/'],
    ['https://[2606:4700::1111]:8443/x', '2606:4700::1111', 8_443, '/x'],
    ['https://hooks.example/a/../b/%2e%2e/c', 'hooks.example', 443, '/c'],
  ])('%s', (text, host, port, target) => {
    expect(parseDestination(text)).toEqual({ host, port, target })
  })

  test.each([
    ['hooks.example', 443, 'hooks.example'],
    ['hooks.example', 8_443, 'hooks.example:8443'],
    ['::1', 443, '[::1]'],
    ['::1', 8_443, '[::1]:8443'],
  ])('%s and %d are written', (host, port, written) => {
    expect(authorityOf({ host, port })).toBe(written)
  })
})

describe('a text is refused', () => {
  test.each([
    ['http://hooks.example/', 'not_https'],
    ['ftp://hooks.example/', 'not_https'],
    ['wss://hooks.example/', 'not_https'],
    ['unix:///run/x', 'not_https'],
    ['https://2130706433/', 'address_refused'],
    ['https://0x7f000001/', 'address_refused'],
    ['https://0x7f.1/', 'address_refused'],
    ['https://017700000001/', 'address_refused'],
    ['https://0177.0.0.1/', 'address_refused'],
    ['https://127.1/', 'address_refused'],
    ['https://127.0.0.01/', 'address_refused'],
    ['https://127.0.0.1./', 'address_refused'],
    ['https://8.8.8.8.8/', 'address_refused'],
    ['https://256.1.1.1/', 'address_refused'],
    ['https://a.example.1/', 'address_refused'],
    ['https://0x/', 'address_refused'],
    ['https://[0:0:0:0:0:0:0:1]/', 'address_refused'],
    ['https://[::ffff:127.0.0.1]/', 'address_refused'],
    ['https://[::01]/', 'address_refused'],
    ['https://[:::1]/', 'address_refused'],
    ['https://[127.0.0.1]/', 'address_refused'],
    ['https://[fe80::1%25lo]/', 'malformed'],
    ['https://%31%32%37.0.0.1/', 'malformed'],
    ['https://１２７.0.0.1/', 'malformed'],
    ['https://①②⑦.⓪.⓪.①/', 'malformed'],
    ['https://127。0。0。1/', 'malformed'],
    ['https://bücher.example/', 'malformed'],
    ['https://user@hooks.example/', 'malformed'],
    ['https://user:pw@hooks.example/', 'malformed'],
    ['https://hooks.example@127.0.0.1/', 'malformed'],
    ['https://hooks.example\\@127.0.0.1/', 'malformed'],
    ['https:\\\\127.0.0.1/', 'malformed'],
    ['https:/hooks.example/', 'malformed'],
    ['https:hooks.example', 'malformed'],
    ['https:///hooks.example/', 'malformed'],
    ['//hooks.example/', 'malformed'],
    ['hooks.example', 'malformed'],
    ['https://', 'malformed'],
    ['', 'malformed'],
    ['https://hooks.example/#a', 'malformed'],
    ['https://hooks.example#@127.0.0.1/', 'malformed'],
    ['https://hooks.example#', 'malformed'],
    ['https://hooks.example:/', 'malformed'],
    ['https://hooks.example:0/', 'malformed'],
    ['https://hooks.example:0443/', 'malformed'],
    ['https://hooks.example:65536/', 'malformed'],
    ['https://hooks.example:443:443/', 'malformed'],
    ['https://hooks..example/', 'malformed'],
    ['https://hooks.example../', 'malformed'],
    ['https://.hooks.example/', 'malformed'],
    ['https://-a.example/', 'malformed'],
    ['https://./', 'malformed'],
    [`https://${'a'.repeat(64)}.example/`, 'malformed'],
    [`https://${'a.'.repeat(127)}/x`.replace('./', 'aa./'), 'malformed'],
    [`https://hooks.example/${'a'.repeat(2_048)}`, 'malformed'],
    [' https://hooks.example/', 'malformed'],
    ['https://hooks.example/ x', 'malformed'],
    ['https://hooks.exa\tmple/', 'malformed'],
    ['https://hooks.example/\r\nX: y', 'malformed'],
    ['https://hooks.example/\u0000', 'malformed'],
  ])('%j', (text, failure) => {
    expect(Object(parseDestination(text)).failure).toBe(failure)
  })

  test('without a word of it', () => {
    const { expected } = Object(parseDestination('https://planted:planted@hooks.example/'))
    expect(expected).toBe('an address without user name and password')
  })
})
