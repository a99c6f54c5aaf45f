/**
 * Wrong use of the client: each has an error that says what to do.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { CofferError, createClient } from '../../src/client/index.ts'
import { afterwards, openServed } from './served.ts'

const { address, keys, clientOf } = await openServed(3)
const based = await openServed(4, { basePath: '/vault' })

const told = async (call: Promise<unknown>) => {
  try {
    await call
  } catch (thrown) {
    const { code, message, status } = thrown as Error & { code: string; status: number }
    return { code, message, status }
  }
  throw new Error('it succeeded')
}

const compressed = (content: object) => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  return new Response(Bun.gzipSync(JSON.stringify(content)), { headers })
}

describe('a client is not made', () => {
  test.each([
    [undefined],
    [''],
    ['localhost:3333'],
    ['vault.example'],
    ['ftp://vault.example'],
    ['http://user:secret@vault.example'],
    ['http://:secret@vault.example'],
    ['http://vault.example/?key=secret'],
  ])('of the address %p, which it does not repeat', given => {
    const make = () => createClient({ address: given as string, key: keys.private })
    expect(make).toThrow(TypeError)
    expect(make).toThrow('expected an address such as')
    expect(make).not.toThrow('secret')
  })

  test.each([[undefined], [''], ['key_secret\n'], [{}]])('of the key %p', given => {
    const make = () => createClient({ address, key: given as string })
    expect(make).toThrow('expected an API key')
    expect(make).not.toThrow('secret')
  })
})

describe('a call says', () => {
  test('that no key is one of the vault', async () => {
    const { tokens } = createClient({ address, key: 'key_2222222222222222222222' })
    expect(await told(tokens.get('a'))).toMatchObject({ code: 'unauthenticated', status: 401 })
  })

  test('the permission that a key of the wrong type lacks', async () => {
    const error = await told(clientOf('management').tokens.get('a'))
    expect(error.code).toBe('forbidden')
    expect(error.message).toContain('token:read')
    const session = await told(clientOf('private').sessions.create())
    expect(session).toMatchObject({ code: 'forbidden' })
    expect(session.message).toContain('public')
  })

  test('that nobody listens there', async () => {
    const closed = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
    const there = closed.url.origin
    await closed.stop(true)
    const { tokens } = createClient({ address: there, key: keys.private, retries: 0 })
    const error = await told(tokens.get('a'))
    expect(error.code).toBe('unreachable')
    expect(error.message).toMatch(new RegExp(`^no answer from ${there}: .*Refused|REFUSED`))
  })

  test.each([
    ['a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['a page that is missing', () => new Response('<html>', { status: 404 })],
    ['other JSON that refuses', () => Response.json({ error: 'no' }, { status: 400 })],
    ['a redirection', () => Response.redirect('https://elsewhere.example/')],
    // Few of such bytes may be gigabytes. proves E28.4
    ['a token that is compressed, which nobody asked for', () => compressed({ id: 'a' })],
  ])('that what answers is no vault: %s', async (_, answer) => {
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
    afterwards(() => other.stop(true))
    const { tokens } = createClient({ address: other.url.origin, key: keys.private, retries: 0 })
    expect(await told(tokens.get('a'))).toMatchObject({ code: 'not_coffer' })
  })

  test.each([
    ['JSON that is cut off', '{"id":', 'application/json'],
    ['a detail that is no text', '{"detail":{}}', 'application/problem+json'],
    ['nothing at all', '', 'text/plain'],
    ['null', 'null', 'application/json'],
    ['a text', '"a"', 'application/json'],
    ['a number', '1', 'application/json'],
  ])('that what answers is no vault: %s', async (_, text, type) => {
    const status = text.includes('detail') ? 400 : 200
    const answer = () => new Response(text, { status, headers: { 'content-type': type } })
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
    afterwards(() => other.stop(true))
    const { tokens } = createClient({ address: other.url.origin, key: keys.private, retries: 0 })
    expect(await told(tokens.get('a'))).toMatchObject({ code: 'not_coffer' })
    expect(await told(tokens.delete('a'))).toMatchObject({ code: 'not_coffer' })
  })

  test.each([404, 409])('that a gateway says %i, which is not of a vault', async status => {
    const answer = () => Response.json({ status, detail: 'No route.' }, { status })
    const gateway = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
    afterwards(() => gateway.stop(true))
    const { tokens } = createClient({ address: gateway.url.origin, key: keys.private, retries: 0 })
    expect(await told(tokens.get('a'))).toMatchObject({ code: 'not_coffer', status })
  })

  test('that a proxy answers a delete as done', async () => {
    const answer = () => new Response(undefined, { status: 204 })
    const proxy = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
    afterwards(() => proxy.stop(true))
    const { tokens } = createClient({ address: proxy.url.origin, key: keys.private, retries: 0 })
    expect(await told(tokens.delete('a'))).toMatchObject({ code: 'not_coffer', status: 204 })
  })

  test.each([
    ['null', null],
    ['a list', []],
    ['a token without its id', { type: 'token' }],
    ['an id that is no text', { id: {} }],
    ['containers that are no list', { id: 'a', containers: null }],
  ])('that a token is none: %s', async (_, answer) => {
    const other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: ({ url }) =>
        Response.json(
          url.includes('/tokenize')
            ? { results: [{ index: 0, path: '[0]', status: 200, token: answer }] }
            : url.includes('/v2/')
              ? { data: [answer], pagination: {} }
              : answer,
        ),
    })
    afterwards(() => other.stop(true))
    const address = other.url.origin
    const { tokens, ...vault } = createClient({ address, key: keys.private, retries: 0 })
    const walk = async () => {
      for await (const _ of tokens.search('*'));
    }
    const asked = [tokens.get('a'), tokens.create({ type: 'token', data: 'a' }), walk()]
    const { applications, sessions } = vault
    const removed = [tokens, applications, sessions].map(each => each.delete('a'))
    const others = [tokens.exists('a'), sessions.create(), applications.current(), ...removed]
    const all = [...asked, vault.tokenizeEach(['a']), ...others]
    // Each is awaited from the first moment: an unhandled refusal would end the run.
    for (const answer of await Promise.all(all.map(told))) {
      expect(answer).toMatchObject({
        code: 'not_coffer',
        message: `what answers at ${address} is no Coffer: is the address right?`,
      })
    }
  })

  test('each fault by its path, whatever a vault puts there', async () => {
    for (const errors of [null, 'a', ['a'], { a: 'b', c: [1] }]) {
      const answer = () => Response.json({ detail: 'no', errors }, { status: 400 })
      const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
      afterwards(() => other.stop(true))
      const { tokens } = createClient({ address: other.url.origin, key: keys.private })
      const thrown: unknown = await tokens.get('a').catch((error: unknown) => error)
      expect(thrown).toMatchObject({ code: 'invalid_request' })
      expect(Object.entries((thrown as CofferError).errors)).toEqual([])
    }
  })

  test.each<[string, (request: Request) => Response]>([
    ['null', () => Response.json(null)],
    ['a place that is none', () => Response.json({ data: [], pagination: { next: null } })],
    ['a place with names', () => Response.json({ data: [], pagination: { next: { a: 'b' } } })],
    [
      'a stretch of nothing before another one',
      request => {
        const at = new URL(request.url).searchParams.get('start') ?? ''
        return Response.json({ data: [], pagination: { next: `${at}a` } })
      },
    ],
    ['no list', () => Response.json({ data: {} })],
    [
      'the same place again and again',
      () => Response.json({ data: [{}], pagination: { next: 'a' } }),
    ],
    [
      'places that go round',
      request => {
        const at = Number(new URL(request.url).searchParams.get('start'))
        return Response.json({ data: [{}], pagination: { next: String((at % 7) + 1) } })
      },
    ],
  ])('that a list is none: %s', async (_, answer) => {
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
    afterwards(() => other.stop(true))
    const { tokens } = createClient({ address: other.url.origin, key: keys.private, retries: 0 })
    const walk = async () => {
      for await (const _ of tokens.list());
    }
    expect(await told(walk())).toMatchObject({ code: 'not_coffer' })
  })

  test('nothing of what was asked, where nobody answers', async () => {
    const nobody = createClient({ address: 'http://127.0.0.1:9', key: keys.private, retries: 0 })
    const asked = [nobody.tokens.get('a-secret'), nobody.tokens.listPage({ id: ['a-secret'] })]
    const errors = await Promise.all(asked.map(call => call.catch((thrown: unknown) => thrown)))
    for (const error of errors) {
      expect(Bun.inspect(error)).not.toContain('a-secret')
    }
  })

  test('that the base path is missing, or too much', async () => {
    const without = createClient({ address: based.address, key: based.keys.private })
    const error = await told(without.tokens.get('a-secret-id'))
    expect(error).toMatchObject({ code: 'other_version', status: 404 })
    expect(error.message).toContain('base path')
    expect(error.message).not.toContain('a-secret-id')
    const beyond = createClient({ address: `${address}/vault`, key: keys.private })
    expect((await told(beyond.tokens.get('a'))).code).toBe('other_version')
    const right = createClient({ address: `${based.address}/vault/`, key: based.keys.private })
    expect((await told(right.tokens.get('a'))).code).toBe('not_found')
  })

  test('that the vault is closed', async () => {
    const { app, clientOf: clientOfClosed } = await openServed(8)
    const { tokens } = clientOfClosed('private', { retries: 0 })
    await app.drain()
    const error = await told(tokens.get('a'))
    expect(error).toMatchObject({ code: 'unavailable', status: 503 })
    expect(error.message).toBe('The service is stopping.')
  })
})
