/**
 * Routes of addresses: the target counts as it was sent, and nothing that was made of it. Group A
 * of docs/hostile-inputs.md; contract sections 1 and 2.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { buildApp } from '../../src/server/listen/app.ts'
import { canary } from '../support/refusal.ts'
import { expectUnharmed, openWire, requestText, type Wire } from '../support/wire.ts'

let wire: Wire
let json: Record<string, string>
beforeAll(async () => {
  wire = await openWire(102)
  json = { 'SVC-API-KEY': wire.key, 'Content-Type': 'application/json' }
  for (const id of ['one', 'search', 'regenerate', 'a.b', 'two words']) await make(id)
})
afterAll(() => wire.close())

const make = (id: string) =>
  wire.send(requestText('POST', '/tokens', json, JSON.stringify({ id, type: 'token', data: id })))

const ask = async (method: string, target: string, headers = json) => {
  const received = await wire.send(requestText(method, target, headers))
  const [answer] = received.answers
  return { received, status: answer?.status ?? 0, headers: answer?.headers, body: answer?.body }
}

/** A 404 of an unknown address says the same with and without a key. */
async function expectNowhere(target: string): Promise<void> {
  for (const headers of [json, {}]) {
    const { status, body, received } = await ask('GET', target, headers)
    expect([target, status]).toEqual([target, 404])
    expect(body).toContain('There is nothing at this address.')
    await expectUnharmed(wire, received)
  }
}

describe('an address that is not known as it was sent is 404 for everybody', () => {
  // proves C1.5, C2.18, H28
  test.each([
    ['//tokens'],
    ['///tokens'],
    ['/tokens//'],
    ['/tokens//one'],
    ['/tokens/one//'],
    ['/tokens/one/more'],
    ['/tokens/.'],
    ['/tokens/..'],
    ['/tokens/%2e'],
    ['/tokens/%2E%2e'],
    ['/tokens/./one'],
    ['/tokens/../tokens/one'],
    ['/tokens/../applications/key'],
    ['/tokens/%2e%2e/applications/key'],
    ['/tokens/.%2e/applications/key'],
    ['/applications/../tokens'],
    ['/applications\\key'],
    ['/tokens\\one'],
    ['/tokens/x\\..\\one'],
    ['/tokens/x%5c..%5cone/..'],
    ['/%74okens'],
    ['/Tokens'],
    ['/tokens;a=b'],
    ['/tokens#one'],
    ['/swagger/../tokens'],
    ['http://evil.example/tokens/../applications/key'],
  ])('H28: %s', expectNowhere)

  test.each([
    ['/tokens/%zz'],
    ['/tokens/%'],
    ['/tokens/one%'],
    ['/tokens/%ff%fe'],
    ['/tokens/%c0%ae'],
    ['/tokens/%ed%a0%80'],
    ['/tokens/%E0%A4%A'],
    ['/applications/%zz'],
  ])('because it does not decode: %s', expectNowhere)
})

// proves H28
test('H28: a dot is no id of what is changed', async () => {
  for (const target of ['/applications/./regenerate', '/applications/%2e%2e/regenerate']) {
    expect((await ask('POST', target)).status).toBe(404)
  }
})

describe('an address is what it is', () => {
  test.each([
    ['/tokens/one'],
    ['/tokens/one/'],
    ['/tokens/%6Fne'],
    ['/tokens/one?x=/../y'],
    ['/tokens/search'],
    ['/tokens/regenerate'],
    ['/tokens/a.b'],
    ['/tokens/two%20words'],
  ])('%s is one token', async target => {
    expect((await ask('GET', target)).status).toBe(200)
    expect((await ask('GET', target, {})).status).toBe(401)
  })

  // proves C7.8, H87
  test.each([
    ['/tokens/one%2F'],
    ['/tokens/%2Fone'],
    ['/tokens/one%2Fmore'],
    ['/tokens/one%00'],
    ['/tokens/one%2500'],
    ['/tokens/%256Fne'],
    ['/tokens/one%23x'],
    ['/tokens/one+'],
    ['/tokens/two+words'],
    ['/tokens/one%20'],
    ['/tokens/ONE'],
  ])('H87: %s is decoded once, and names no token', async target => {
    const { status, body } = await ask('GET', target)
    expect([status, JSON.parse(body ?? '').detail]).toEqual([
      404,
      'There is no such token, or none that this key may see.',
    ])
  })

  // proves H27
  test('H27: the host does not matter, not even in the target', async () => {
    for (const target of ['http://evil.example/tokens/one', 'https://evil.example:1/tokens/one']) {
      expect((await ask('GET', target)).status).toBe(200)
    }
    for (const Host of ['evil.example', 'h', '[::1]:1', 'a_b', 'x'.repeat(300)]) {
      const { status, received } = await ask('GET', '/tokens/one', { ...json, Host })
      expect([Host, status]).toEqual([Host, 200])
      expect(received.text).not.toContain(Host === 'h' ? canary : Host)
    }
    const old = `GET /tokens/one HTTP/1.0\r\nSVC-API-KEY: ${wire.key}\r\n\r\n`
    expect((await wire.send(old)).answers[0]?.status).toBe(200)
  })

  test('H27: the host does not matter within this process either', async () => {
    const { handle } = buildApp(wire.vault.deps)
    for (const host of ['h', 'localhost:1', `${'x'.repeat(60)}.example`]) {
      const get = (path: string) =>
        handle(new Request(`http://${host}${path}`, { headers: { 'SVC-API-KEY': wire.key } }))
      expect([host, (await get('/tokens/one')).status]).toEqual([host, 200])
      expect([host, (await get('/tokens/%zz')).status]).toEqual([host, 404])
    }
  })

  // proves H27
  test('H27: links never name a host', async () => {
    const body = JSON.stringify({ id: 'linked', type: 'token', data: 1 })
    const Host = 'evil.example'
    const made = await wire.send(requestText('POST', '/tokens', { ...json, Host }, body))
    expect(made.answers[0]?.headers.get('location')).toBe('/tokens/linked')
    expect(made.text).not.toContain(Host)
  })

  test('any id that was made is found at its encoded address, and nowhere else', async () => {
    const text = fc.string({ unit: 'grapheme', minLength: 3, maxLength: 12 })
    const id = text.filter(made => /^[^#/\\+?[\]|&=%<>{}^\p{C}]{3,}$/u.test(made))
    await fc.assert(
      fc.asyncProperty(id, async id => {
        const target = `/tokens/${encodeURIComponent(id)}`
        await make(id)
        const { status, body } = await ask('GET', target)
        const shown = JSON.parse(Buffer.from(body ?? '', 'latin1').toString('utf8'))
        expect([status, shown.data]).toEqual([200, id])
        expect((await ask('GET', `${target}x`)).status).toBe(404)
      }),
      { numRuns: 40 },
    )
  })
})

// proves H82
test('H82: a character that no id has, sent raw, never leads to the token before it', async () => {
  for (const char of '/\\+[]|&=%<>{}^\u007f\u0001') {
    const target = `/tokens/one${char}x`
    const { status, received } = await ask('GET', target)
    // decision: the server takes a control character for the end of the target, as it does a space.
    expect([target, status]).toEqual([target, char < ' ' ? 505 : 404])
    await expectUnharmed(wire, received)
  }
})

describe('methods', () => {
  // proves C2.20, H15
  test('H15: that an address does not have are 405 with those it has, for any caller', async () => {
    const rows = [
      ['PUT', '/tokens', 'GET, HEAD, POST, OPTIONS'],
      ['POST', '/tokens/one', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
      ['PATCH', '/applications/key', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/applications/key', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/sessions', 'GET, HEAD, POST, OPTIONS'],
      ['GET', '/sessions/one', 'DELETE, OPTIONS'],
      ['POST', '/swagger', 'GET, HEAD, OPTIONS'],
      ['PROPFIND', '/tokens/', 'GET, HEAD, POST, OPTIONS'],
    ] as const
    for (const [method, target, allow] of rows) {
      for (const headers of [json, {}]) {
        const answer = await ask(method, target, headers)
        expect([answer.status, answer.headers?.get('allow')]).toEqual([405, allow])
        expect(JSON.parse(answer.body ?? '')).toMatchObject({ status: 405 })
      }
    }
  })

  // proves H15
  test('H15: TRACE and CONNECT are refused like the others, and echo nothing', async () => {
    for (const method of ['TRACE', 'CONNECT']) {
      const headers = { ...json, 'X-Canary': canary }
      const { status, received } = await ask(method, '/tokens', headers)
      expect(status).toBe(405)
      await expectUnharmed(wire, received)
    }
  })

  // proves H15
  test('H15: that nobody knows end the connection', async () => {
    for (const method of ['FOO', 'get', canary]) {
      // The server ends it before the application, mostly without a word.
      const received = await wire.send(requestText(method, '/tokens', json))
      expect(received.isClosed).toBe(true)
      expect(received.text).toMatch(/^(?:HTTP\/1.1 400 Bad Request\r\nConnection: close\r\n\r\n)?$/)
      await expectUnharmed(wire, received)
    }
  })

  // proves H16
  test('H16: HEAD answers as GET does, without the body', async () => {
    for (const target of ['/tokens/one', '/tokens', '/applications/key', '/tokens/absent']) {
      for (const headers of [json, {}]) {
        const trace = { ...headers, 'SVC-TRACE-ID': 'head' }
        const get = await ask('GET', target, trace)
        const head = await wire.send(requestText('HEAD', target, { ...trace, Connection: 'close' }))
        const [first = '', rest] = [head.text.split('\r\n')[0], head.text.split('\r\n\r\n')[1]]
        expect([first.split(' ')[1], rest]).toEqual([String(get.status), ''])
        const length = /content-length: (\d+)/i.exec(head.text)?.[1]
        expect(length).toBe(get.headers?.get('content-length') ?? '')
      }
    }
  })

  test('of the same name as a token do not hide it', async () => {
    expect((await ask('GET', '/tokens/search')).body).toContain('"data":"search"')
    expect((await ask('PUT', '/tokens/search')).headers?.get('allow')).toContain('PATCH, DELETE')
  })
})

describe('the first address', () => {
  const places = (base: string) =>
    JSON.stringify({
      name: 'Coffer',
      page: `${base}/swagger`,
      document: `${base}/swagger/json`,
    })

  // proves C1.21
  test('says to anybody where the page and the document are', async () => {
    const { status, body, headers } = await ask('GET', '/', {})
    expect([status, body]).toEqual([200, places('')])
    expect(headers?.get('content-type')).toBe('application/json; charset=utf-8')
    for (const path of Object.values(JSON.parse(body ?? '') as object).slice(1)) {
      expect((await ask('GET', String(path), {})).status).toBe(200)
    }
    const other = await ask('POST', '/', {})
    expect([other.status, other.headers?.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  // proves C1.21
  test('does so below a base path, with and without a slash', async () => {
    const below = await openWire(104, { basePath: '/vault/v1' })
    for (const target of ['/vault/v1', '/vault/v1/']) {
      const { status, body } = await below.ask('GET', target)
      expect([status, body]).toEqual([200, places('/vault/v1')])
    }
    expect((await below.ask('GET', '/')).status).toBe(404)
    await below.close()
  })

  test('says nothing where there is no page', async () => {
    const bare = await openWire(105, { documentationPage: false })
    expect((await bare.ask('GET', '/')).status).toBe(404)
    await bare.close()
  })
})

describe('below a base path', () => {
  let below: Wire
  beforeAll(async () => {
    below = await openWire(103, { basePath: '/vault/v1' })
  })
  afterAll(() => below.close())

  // proves A1.1, C1.6
  test('stands everything, and nothing beside it', async () => {
    const headers = { 'SVC-API-KEY': below.key, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ id: 'based', type: 'token', data: 1 })
    const post = async (target: string) =>
      (await below.send(requestText('POST', target, headers, body))).answers[0]
    const get = async (target: string) =>
      (await below.send(requestText('GET', target, headers))).answers[0]
    expect((await post('/tokens'))?.status).toBe(404)
    const made = await post('/vault/v1/tokens')
    expect([made?.status, made?.headers.get('location')]).toEqual([201, '/vault/v1/tokens/based'])
    expect((await get(made?.headers.get('location') ?? ''))?.status).toBe(200)
    for (const target of ['/tokens/based', '/vault/tokens/based', '/vault', '/swagger']) {
      expect([target, (await get(target))?.status]).toEqual([target, 404])
    }
    const page = await get('/vault/v1/swagger')
    expect(page?.status).toBe(200)
    expect(page?.body).toContain('src="swagger/ui.js"')
    const document = await get('/vault/v1/swagger/json')
    expect(document?.body).toContain('"servers":[{"url":"/vault/v1"}]')
  })
})
