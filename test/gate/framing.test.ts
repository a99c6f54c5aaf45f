/**
 * Framing of requests: lengths, chunks, lines, header blocks. Group A of docs/hostile-inputs.md.
 *
 * The server refuses a wrong frame before the application sees it; its answer cannot have a body.
 * That is safe, because the connection ends with it.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { bodyBytesMax, headerBlockBytesMax, urlBytesMax } from '../../src/limits/limits.ts'
import { canary } from '../support/refusal.ts'
import { exchange, expectUnharmed, openWire, requestText, type Wire } from '../support/wire.ts'

let wire: Wire
let json: Record<string, string>
beforeAll(async () => {
  wire = await openWire(101)
  json = { 'SVC-API-KEY': wire.key, 'Content-Type': 'application/json' }
})
afterAll(() => wire.close())

const kept = '/tokens/kept'
/** Reveals nothing, so that it is answered in the turn of the loop in which it comes. */
const own = '/applications/key'
beforeAll(() =>
  wire.send(requestText('POST', '/tokens', json, '{"id":"kept","type":"token","data":1}')),
)

const token = (id: string) => JSON.stringify({ id, type: 'token', data: canary })

/** A POST /tokens whose headers are given line by line. */
const post = (lines: readonly string[], body: string) =>
  [
    'POST /tokens HTTP/1.1',
    'Host: vault',
    `SVC-API-KEY: ${wire.key}`,
    'Content-Type: application/json',
    ...lines,
    '',
    body,
  ].join('\r\n')

const chunked = (...chunks: readonly string[]) =>
  chunks.map(chunk => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join('')

const totalItems = async () => {
  const { answers } = await wire.send(requestText('GET', '/tokens', json))
  return (JSON.parse(answers[0]?.body ?? '') as { pagination: { total_items: number } }).pagination
    .total_items
}

/** No token was made: that is the state which a create could change. */
async function expectNothingMade(made: number): Promise<void> {
  expect(await totalItems()).toBe(made)
}

describe('a body over the limit', () => {
  // proves H1, H3
  test('H1, H3: is refused by its declared length, before it is sent', async () => {
    for (const length of [bodyBytesMax + 1, 140_000_000]) {
      const received = await wire.send(post([`Content-Length: ${length}`], ''))
      expect(received.answers.map(({ status }) => status)).toEqual([413])
      expect(received.isClosed).toBe(true)
      expect(JSON.parse(received.answers[0]?.body ?? '')).toMatchObject({ status: 413 })
      expect(received.answers[0]?.headers.get('svc-trace-id')).toBeDefined()
      await expectUnharmed(wire, received)
    }
  })

  // proves C2.21, C16.1, H1
  test('H1: is taken at the limit, and refused one byte above', async () => {
    const room = bodyBytesMax - token('').length
    const spaced = (more: number) => token('at-limit') + ' '.repeat(room - 8 + more)
    expect((await wire.send(requestText('POST', '/tokens', json, spaced(1)))).answers[0]).toEqual(
      expect.objectContaining({ status: 413 }),
    )
    expect((await wire.send(requestText('POST', '/tokens', json, spaced(0)))).answers[0]).toEqual(
      expect.objectContaining({ status: 201 }),
    )
  })

  // proves H2
  test('H2: is refused while it comes in chunks, and the connection ends', async () => {
    const pieces = Array.from({ length: 17 }, () => chunked(' '.repeat(65_536)))
    const received = await wire.send([post(['Transfer-Encoding: chunked'], ''), ...pieces])
    expect(received.answers[0]?.status).toBe(413)
    expect(received.isClosed).toBe(true)
    await expectUnharmed(wire, received)
  })

  // proves H22
  test('H22: is refused although it was announced by Expect', async () => {
    const lines = ['Expect: 100-continue', `Content-Length: ${bodyBytesMax + 1}`]
    // The server says 100 by itself first; the answer is 413 all the same.
    const received = await wire.send(post(lines, ''))
    expect(received.answers.map(({ status }) => status)).toEqual([413])
    await expectUnharmed(wire, received)
  })
})

describe('a body that is cut off', () => {
  // proves H4
  test('H4: changes nothing, and is no failure of ours', async () => {
    const made = await totalItems()
    const cut = post(['Content-Length: 100'], token('cut-off').slice(0, 5))
    await new Promise<void>(resolve => {
      const socket = connect(wire.port, '127.0.0.1', () => socket.end(cut))
      socket.on('close', () => resolve())
      socket.resume()
    })
    await expectNothingMade(made)
    expect(wire.vault.logged).toEqual([])
    await expectUnharmed(wire)
  })
})

const whole = token('length-twice')

describe('a client that goes away', () => {
  // proves H26
  test('H26: while its write commits leaves it whole or absent', async () => {
    const ids = Array.from({ length: 30 }, (_, index) => `gone-${index}`)
    for (const [index, id] of ids.entries()) {
      await new Promise<void>(resolve => {
        const socket = connect(wire.port, '127.0.0.1', () => {
          socket.write(requestText('POST', '/tokens', json, token(id)))
          setTimeout(() => socket.destroy(), index % 5)
        })
        socket.on('close', () => resolve())
      })
    }
    // Answered only after all that was queued before it.
    expect((await wire.ask('POST', '/tokens', token('gone-last'))).status).toBe(201)
    const found = await Promise.all(ids.map(id => wire.ask('GET', `/tokens/${id}`)))
    for (const { status, body } of found) {
      expect([200, 404]).toContain(status)
      if (status === 200) expect(body).toContain(`"data":"${canary}"`)
    }
    expect(wire.vault.logged).toEqual([])
  })
})

const whole7 = `${chunked(token('framed'))}0\r\n\r\n`

/** However the server reads it, it is refused or left waiting; nothing is made. */
const refused: readonly (readonly [string, readonly string[], string, number])[] = [
  // proves H5
  ['H5: with a length and chunks', ['Content-Length: 5', 'Transfer-Encoding: chunked'], '', 400],
  // proves H6
  ['H6: with two lengths', ['Content-Length: 5', 'Content-Length: 6'], 'abcde', 400],
  // proves H6
  ['H6: with one length twice', Array(2).fill(`Content-Length: ${whole.length}`), whole, 400],
  // proves H7
  ['H7: in an unknown coding', ['Transfer-Encoding: xchunked'], '0\r\n\r\n', 400],
  // proves H7
  ['H7: compressed', ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n', 400],
  // proves H7
  ['H7: in chunks, and an empty coding', ['Transfer-Encoding: chunked,'], whole7, 400],
  ['H7: in an empty coding, and chunks', ['Transfer-Encoding: ,chunked'], whole7, 400],
  ['H7: in chunks, listed twice', ['Transfer-Encoding: chunked, chunked'], whole7, 400],
  ['H7: as it is, then in chunks', ['Transfer-Encoding: identity, chunked'], whole7, 400],
  ['H7: as it is', ['Transfer-Encoding: identity'], whole7, 400],
  ['H7: in chunks with a parameter', ['Transfer-Encoding: chunked;q=1'], whole7, 400],
  ['H7: in quoted chunks', ['Transfer-Encoding: "chunked"'], whole7, 400],
  ['H7: in chunks behind a tab', ['Transfer-Encoding: x\tchunked'], whole7, 400],
  ['H7: in chunks, with a space before the colon', ['Transfer-Encoding : chunked'], whole7, 400],
  ['H7: in chunks, on a folded line', ['Transfer-Encoding:', ' chunked'], whole7, 400],
  // proves H7
  ['H7: in chunks twice', Array(2).fill('Transfer-Encoding: chunked'), '0\r\n\r\n', 400],
  // proves H8
  ['H8: of negative length', ['Content-Length: -1'], '', 400],
  // proves H8
  ['H8: of hexadecimal length', ['Content-Length: 0x5'], 'abcde', 400],
  // proves H8
  ['H8: of length with a plus', ['Content-Length: +5'], 'abcde', 400],
  ['H8: of empty length', ['Content-Length: '], 'abcde', 400],
  ['H8: of listed lengths', ['Content-Length: 5, 5'], 'abcde', 400],
  // proves H8
  ['H8: of huge length', ['Content-Length: 99999999999999999999999'], '', 400],
  // decision: the server's own bound, 2^53, where its answer is 413 without a body.
  // proves H8
  ['H8: of length 2^53 + 1', ['Content-Length: 9007199254740993'], '', 413],
  // proves H9
  ['H9: in a chunk of 2^68', ['Transfer-Encoding: chunked'], 'FFFFFFFFFFFFFFFFF\r\nabc', 400],
  ['H9: in a chunk that is no number', ['Transfer-Encoding: chunked'], 'zz\r\nabc', 400],
]

describe('a body is refused, and nothing made,', () => {
  test.each(refused)('%s', async (_name, lines, body, status) => {
    const made = await totalItems()
    const received = await wire.send(post(lines, body))
    expect(received.answers.map(answer => answer.status)).toEqual([status])
    await expectNothingMade(made)
    await expectUnharmed(wire, received)
  })

  // proves H9
  test('H9: in a chunk of 4 GB, which is waited for and never cut to its last digit', async () => {
    const made = await totalItems()
    const body = `100000005\r\n${token('short').slice(0, 5)}\r\n0\r\n\r\n`
    const received = await wire.send(post(['Transfer-Encoding: chunked'], body), 0)
    // The server ends the connection when it idles for `idleSecondsMax`.
    expect(received.answers).toEqual([])
    await expectNothingMade(made)
    await expectUnharmed(wire, received)
  })
})

describe('text behind a request on its connection', () => {
  // proves H7
  test('H7: is never run where a proxy may read another end of the body', async () => {
    for (const coding of ['chunked,', ', chunked', 'chunked, chunked', 'identity', 'gzip']) {
      const head = requestText('GET', kept, { ...json, 'Transfer-Encoding': coding })
      const hidden = requestText('DELETE', kept, json)
      const received = await wire.send(`${head}0\r\n\r\n${hidden}`, 2)
      expect([coding, received.answers.map(({ status }) => status)]).toEqual([coding, [400]])
      expect(received.isClosed).toBe(true)
      const after = await wire.send(requestText('GET', kept, json))
      expect(after.answers[0]?.status).toBe(200)
    }
  })

  test('H7: is run behind a body in chunks, whatever the case of its coding', async () => {
    for (const [index, coding] of ['chunked', 'CHUNKED', 'Chunked '].entries()) {
      const body = `${chunked(token(`cased-${index}`))}0\r\n\r\n`
      const { answers } = await wire.send(post([`Transfer-Encoding: ${coding}`], body))
      expect(answers.map(({ status }) => status)).toEqual([201])
    }
  })

  // proves H10
  test('H10: is nothing behind chunks, so that a proxy has no answer too many', async () => {
    const coded = { ...json, 'Transfer-Encoding': 'chunked' }
    const heads = [
      requestText('POST', '/detokenize', coded),
      requestText('GET', own, coded),
      requestText('POST', '/tokens', { ...coded, 'SVC-API-KEY': 'none' }),
      requestText('GET', '/swagger', { 'Transfer-Encoding': 'chunked' }),
      requestText('OPTIONS', '/tokens', { 'Transfer-Encoding': 'chunked' }),
      requestText('POST', '/nowhere', { 'Transfer-Encoding': 'chunked' }),
    ]
    for (const head of heads) {
      // The server answers fields behind the last chunk with a 400 of its own.
      const received = await wire.send(`${head}${chunked('1')}0\r\nX: y\r\n\r\n`, 2)
      const [first] = received.answers
      expect(first?.headers.get('connection')).toBe('close')
      expect(first?.headers.get('svc-trace-id')).toBeDefined()
      const bare = await wire.send(`${head}${chunked('1')}0\r\n\r\n`)
      expect(bare.answers[0]?.headers.get('connection')).toBe('close')
      expect(bare.isClosed).toBe(true)
      await expectUnharmed(wire, received)
    }
  })

  // proves H10
  test('H10: is no request when it stands in the last chunk', async () => {
    const hidden = requestText('DELETE', kept, json)
    const body = `${chunked('{}')}0\r\nXX${hidden}\r\n`
    const received = await wire.send(post(['Transfer-Encoding: chunked'], body), 2)
    // The server refuses the bytes behind it at once, so the answer before may be lost.
    expect(received.answers.at(-1)?.status).toBe(400)
    expect(received.isClosed).toBe(true)
    const after = await wire.send(requestText('GET', kept, json))
    expect(after.answers[0]?.status).toBe(200)
  })

  test('is no request when it is the body of one that takes none', async () => {
    const outer = requestText('GET', own, json, requestText('DELETE', kept, json))
    const received = await wire.send(outer + requestText('GET', own, json), 2)
    expect(received.answers.map(({ status }) => status)).toEqual([200, 200])
  })

  // proves H23
  test('H23: is answered in order, 1,000 requests in one write', async () => {
    const asked = Array.from({ length: 1_000 }, (_, index) => `trace-${index}`)
    const write = asked.map(trace =>
      requestText('GET', '/applications/key', { ...json, 'SVC-TRACE-ID': trace }),
    )
    const { answers } = await wire.send(write.join(''), 1_000)
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(answers.map(({ headers }) => headers.get('svc-trace-id') ?? '')).toEqual(asked)
  })
})

describe('a request behind a write that is under way', () => {
  // The server has no place to keep it: it ends the connection, and the client does not know.
  // proves H23
  test('H23: is never run, and the write is whole or absent', async () => {
    for (const count of [2, 100]) {
      const ids = Array.from({ length: count }, (_, index) => `behind-${count}-${index}`)
      const write = ids.map(id => requestText('POST', '/tokens', json, token(id)))
      const received = await wire.send(write.join(''), count)
      expect(received.isClosed).toBe(true)
      // Answered only after all that was queued before it.
      expect((await wire.ask('POST', '/tokens', token(`last-${count}`))).status).toBe(201)
      const [first, ...rest] = await Promise.all(ids.map(id => wire.ask('GET', `/tokens/${id}`)))
      expect(rest.filter(({ status }) => status !== 404)).toEqual([])
      expect([200, 404]).toContain(first?.status ?? 0)
      if (first?.status === 200) expect(first.body).toContain(`"data":"${canary}"`)
      await expectUnharmed(wire, received)
    }
  })
})

/** Requests that the server refuses before the application, by answers of its own. */
const malformed: readonly (readonly [string, string | Uint8Array, number])[] = [
  // decision: the server takes a bare LF for a part of the version.
  // proves H11
  ['H11: bare line feeds', 'GET /tokens HTTP/1.1\nHost: vault\n\n', 505],
  // proves H11
  ['H11: a folded header', 'GET /tokens HTTP/1.1\r\nHost: vault\r\nX: a\r\n b\r\n\r\n', 400],
  // proves H11
  ['H11: a space before the colon', 'GET /tokens HTTP/1.1\r\nHost: vault\r\nX : a\r\n\r\n', 400],
  // proves H11
  ['H11: a NUL in a header', 'GET /tokens HTTP/1.1\r\nHost: vault\r\nX: a\0b\r\n\r\n', 400],
  // proves H12
  ['H12: no Host', 'GET /tokens HTTP/1.1\r\n\r\n', 400],
  // proves H14
  ['H14: a TLS greeting', Buffer.from('16030100c8010000c40303', 'hex'), 400],
  // proves H14
  ['H14: noise', Uint8Array.from({ length: 300 }, (_, i) => (i * 97 + 13) & 255), 400],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['HTTP/3.0', 'GET /tokens HTTP/3.0\r\nHost: vault\r\n\r\n', 505],
  ['a target without a path', 'GET tokens HTTP/1.1\r\nHost: vault\r\n\r\n', 400],
  ['a space in the target', 'GET /tokens x HTTP/1.1\r\nHost: vault\r\n\r\n', 505],
]

describe('a request is refused and the connection ended', () => {
  test.each(malformed)('for %s', async (_name, bytes, status) => {
    const received = await wire.send(bytes)
    expect([received.answers.map(answer => answer.status), received.isClosed]).toEqual([
      [status],
      true,
    ])
    await expectUnharmed(wire, received)
  })

  const headers = (count: number, chars: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, canary.repeat(chars)]))

  // proves C2.8, C16.14, H13
  test.each([
    ['200 headers', requestText('GET', '/tokens', headers(200, 1))],
    ['a header of 20 KB', requestText('GET', '/tokens', { X: 'a'.repeat(headerBlockBytesMax) })],
    ['an address of 100 KB', requestText('GET', `/${'a'.repeat(100_000)}`)],
  ])('H13: for %s', async (_name, text) => {
    const received = await wire.send(text)
    expect(received.answers[0]?.status).toBe(431)
    await expectUnharmed(wire, received)
  })

  // proves C2.27, C16.15, H13
  test('H13: but an address over our own limit gets a whole problem', async () => {
    for (const target of [`/tokens/${'a'.repeat(urlBytesMax)}`, `/${canary.repeat(800)}`]) {
      const received = await wire.send(requestText('GET', target, json))
      expect(received.answers[0]?.status).toBe(414)
      expect(JSON.parse(received.answers[0]?.body ?? '')).toMatchObject({ title: 'URI Too Long' })
      await expectUnharmed(wire, received)
    }
  })
})

// proves H25
test('H25: many connections are served side by side', async () => {
  const text = requestText('GET', '/applications/key', json)
  const all = await Promise.all(Array.from({ length: 200 }, () => exchange(wire.port, text)))
  expect(all.every(({ answers }) => answers[0]?.status === 200)).toBe(true)
})
