/**
 * Headers that no request may have: two hosts, or a coded body. Contract section 1.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { canary } from '../support/refusal.ts'
import { expectUnharmed, openWire, requestText, type Wire } from '../support/wire.ts'

let wire: Wire
let json: Record<string, string>
let readerKey: string
beforeAll(async () => {
  wire = await openWire(162)
  json = { 'SVC-API-KEY': wire.key, 'Content-Type': 'application/json' }
  readerKey = await wire.vault.application({ type: 'private', permissions: ['token:read'] })
})
afterAll(() => wire.close())

const body = `{"type":"token","data":"${canary}"}`

const totalItems = async () => {
  const { answers } = await wire.send(requestText('GET', '/tokens', json))
  return (JSON.parse(answers[0]?.body ?? '') as { pagination: { total_items: number } }).pagination
    .total_items
}

describe('a request with two Host headers', () => {
  // proves C1.17, E12.2
  test.each([
    ['other', ['Host: a', 'Host: b']],
    ['equal', ['Host: a', 'Host: a']],
    ['of any case', ['host: a', 'HOST: b']],
    ['of which one is empty', ['Host: a', 'Host:']],
    ['joined on the way', ['Host: a, b']],
  ])('E12.1: %s, is 400 for every caller and operation', async (_, hosts) => {
    const made = await totalItems()
    const lines = [...hosts, ...Object.entries(json).map(([name, value]) => `${name}: ${value}`)]
    const length = `Content-Length: ${body.length}`
    for (const head of [
      ['POST /tokens HTTP/1.1', ...lines, length],
      ['POST /absent HTTP/1.1', ...hosts, length],
      ['GET /swagger HTTP/1.1', ...hosts],
    ]) {
      const sent = head.includes(length) ? body : ''
      const received = await wire.send(`${head.join('\r\n')}\r\n\r\n${sent}`)
      expect(received.answers.map(({ status }) => status)).toEqual([400])
      expect(JSON.parse(received.answers[0]?.body ?? '')).toMatchObject({
        status: 400,
        detail: 'expected one Host header',
      })
      await expectUnharmed(wire, received)
    }
    expect(await totalItems()).toBe(made)
  })

  // proves C1.17, E12.20
  test.each([
    'a b',
    'a/b',
    'user@a',
    'a:b',
    '[zz]',
    '<a>',
    'a\\b',
    'http://a',
    'a?b',
    'a%4',
    '\u00e9',
  ])('E12.20: is refused like one that names no host: %p', async host => {
    const sent = requestText('GET', '/tokens', { ...json, Host: host })
    const received = await wire.send(sent)
    expect(received.answers.map(({ status }) => status)).toEqual([400])
    expect(received.text).not.toContain(host)
    await expectUnharmed(wire, received)
  })

  test('without a Host is refused by the server itself, of HTTP/1.1 alone', async () => {
    const lines = `SVC-API-KEY: ${wire.key}\r\n\r\n`
    const without = await wire.send(`GET /tokens HTTP/1.1\r\n${lines}`)
    expect(without.answers.map(({ status }) => status)).toEqual([400])
    expect(without.isClosed).toBe(true)
    const old = await wire.send(`GET /tokens HTTP/1.0\r\n${lines}`)
    expect(old.answers.map(({ status }) => status)).toEqual([200])
    expect([old.answers[0]?.headers.get('connection'), old.isClosed]).toEqual(['close', true])
  })

  test('and a request to close its connection is answered so, at every address', async () => {
    for (const target of [
      '/tokens',
      '/tokens/none',
      '/nowhere',
      '/swagger/json',
      '/elements/card',
    ]) {
      const kept = await wire.send(requestText('GET', target, json))
      expect([kept.answers[0]?.headers.get('connection'), kept.isClosed]).toEqual([
        undefined,
        false,
      ])
      const last = await wire.send(requestText('GET', target, { ...json, Connection: 'close' }))
      expect([last.answers[0]?.headers.get('connection'), last.isClosed]).toEqual(['close', true])
      expect(last.answers[0]?.body).not.toBe('')
    }
  })

  test('is none with any one host', async () => {
    const names = ['a', 'a_b.example', 'a%41', '[v1.a:b]', 'a:', '']
    for (const host of [...names, 'vault.example:3333', '[::1]:80']) {
      const { answers } = await wire.send(requestText('GET', '/tokens', { ...json, Host: host }))
      expect(answers[0]?.status).toBe(200)
    }
  })
})

describe('a body whose content coding', () => {
  const create = (coding: string | undefined, sent: string | Uint8Array = body) => {
    const headers = coding === undefined ? {} : { 'Content-Encoding': coding }
    return wire.ask('POST', '/tokens', sent, headers)
  }

  // proves C1.16, E12.5
  test.each([
    ['gzip'],
    ['GZIP'],
    ['br'],
    ['deflate'],
    ['x-gzip'],
    ['identity, gzip'],
    ['gzip, '],
    ['*'],
  ])('E12.2: is %p is 415, and told which one is taken', async coding => {
    const made = await totalItems()
    for (const sent of [body, gzipSync(body)]) {
      const answer = await create(coding, sent)
      expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity'])
      expect(answer.body).not.toContain(coding.toLowerCase())
      await expectUnharmed(wire, answer)
    }
    expect(await totalItems()).toBe(made)
  })

  test.each([[undefined], ['identity'], ['Identity'], ['identity, IDENTITY'], [''], [' , ']])(
    'is %p is taken',
    async coding => {
      const answer = await create(coding)
      expect([answer.status, answer.headers.has('accept-encoding')]).toEqual([201, false])
    },
  )

  // proves E12.5
  test('E12.2: is refused at every operation, with a body or without', async () => {
    const coded = { 'Content-Encoding': 'gzip' }
    for (const [method, path] of [
      ['GET', '/tokens'],
      ['DELETE', '/tokens/some-id'],
      ['PATCH', '/tokens/some-id'],
      ['POST', '/tokens/search'],
      ['POST', '/tokenize'],
      ['POST', '/detokenize'],
    ] as const) {
      const answer = await wire.ask(method, path, method === 'GET' ? '' : '{}', coded)
      expect([path, answer.status]).toEqual([path, 415])
    }
  })

  // proves C1.16
  test('comes after 401 and 403, before 400; a wrong type says nothing of codings', async () => {
    const headers = { 'Content-Encoding': 'gzip' }
    const withKey = (key: string) => ({ ...headers, 'SVC-API-KEY': key })
    const statuses = [
      (await wire.ask('POST', '/tokens', '{', withKey('none'))).status,
      (await wire.ask('POST', '/tokens', '{', withKey(readerKey))).status,
      (await wire.ask('POST', '/tokens', '{', headers)).status,
    ]
    expect(statuses).toEqual([401, 403, 415])
    const typed = await wire.ask('POST', '/tokens', body, { 'Content-Type': 'text/plain' })
    expect([typed.status, typed.headers.has('accept-encoding')]).toEqual([415, false])
  })
})
