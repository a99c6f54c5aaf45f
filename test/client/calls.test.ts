/**
 * One call of the typed client: its trace, hooks, headers and instants, references, and wrong use.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import {
  createClient,
  ref,
  type Fetch,
  type RequestFacts,
  type ResponseFacts,
} from '../../src/client/index.ts'
import { afterwards, openServed } from './served.ts'

const { address, keys, clientOf } = await openServed(11)
const { tokens } = clientOf('private')

const listed = async <T>(walk: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = []
  for await (const item of walk) items.push(item)
  return items
}

describe('each call', () => {
  test('tells under which trace id the vault did it', async () => {
    const made = await tokens.create({ type: 'token', data: 1 }, { traceId: 'a-17' }).withTrace()
    expect(made).toMatchObject({ status: 201, traceId: 'a-17' })
    const gone = await tokens.delete(made.value.id).withTrace()
    expect(gone).toEqual({ value: undefined, status: 204, traceId: expect.any(String) })
    await expect(tokens.get('absent').withTrace()).rejects.toMatchObject({ code: 'not_found' })
  })

  test('is told to hooks before and after each attempt, without what it carries', async () => {
    const before: RequestFacts[] = []
    const after: ResponseFacts[] = []
    let count = 0
    const busyFirst: Fetch = (url, init) => {
      count += 1
      const headers = { 'retry-after': '0' }
      if (count > 1) return fetch(url, init)
      return Promise.resolve(Response.json({ detail: 'busy' }, { status: 503, headers }))
    }
    const hooked = clientOf('private', {
      fetch: busyFirst,
      onRequest: facts => before.push(facts),
      onResponse: facts => after.push(facts),
    })
    await hooked.tokens.listPage({ metadata: { order: 'secret' } }, { traceId: 'a-18' })
    const facts = { method: 'GET', path: '/tokens' } as const
    expect(before).toEqual([
      { ...facts, attempt: 1 },
      { ...facts, attempt: 2 },
    ])
    expect(after).toMatchObject([
      { attempt: 1, status: 503 },
      { attempt: 2, status: 200, traceId: 'a-18' },
    ])
    expect(after.every(({ durationMs }) => durationMs >= 0)).toBe(true)
    expect(JSON.stringify([before, after])).not.toMatch(/secret|key_/)
  })

  test('tells the hook that no answer came, and throws what a hook throws', async () => {
    const after: ResponseFacts[] = []
    const nowhere = createClient({
      address: 'http://127.0.0.1:9',
      key: keys.private,
      retries: 0,
      onResponse: facts => after.push(facts),
    })
    await expect(nowhere.tokens.get('a')).rejects.toMatchObject({ code: 'unreachable' })
    expect(after).toMatchObject([{ status: 0 }])
    const onRequest = () => {
      throw new Error('not today')
    }
    let count = 0
    const counting: Fetch = (url, init) => {
      count += 1
      return fetch(url, init)
    }
    const never = clientOf('private', { onRequest, fetch: counting })
    await expect(never.tokens.get('a')).rejects.toThrow('not today')
    expect(count).toBe(0)
  })

  test('carries the headers of the client, and its own before them', async () => {
    const seen: Headers[] = []
    const noting: Fetch = (url, init) => {
      seen.push(new Headers(init.headers))
      return fetch(url, init)
    }
    const headers = { 'X-Shop': 'one', authorization: 'Basic of-a-proxy' }
    const { tokens: noted } = clientOf('private', { headers, fetch: noting })
    await noted.exists('a')
    await noted.exists('a', { headers: { 'x-shop': 'two' } })
    expect(seen.map(each => each.get('x-shop'))).toEqual(['one', 'two'])
    expect(seen[1]?.get('authorization')).toBe('Basic of-a-proxy')
    expect(seen[1]?.get('svc-api-key')).toBe(keys.private)
  })

  test('sends what its body was when it began', async () => {
    const bodies: unknown[] = []
    const token = { type: 'token' as const, data: 'first' }
    const busyFirst: Fetch = (url, init) => {
      bodies.push(init.body)
      token.data = 'second'
      if (bodies.length > 1) return fetch(url, init)
      return Promise.resolve(Response.json({ detail: 'busy' }, { status: 503 }))
    }
    await clientOf('private', { fetch: busyFirst }).tokens.create(token)
    expect(bodies[1]).toBe(bodies[0])
  })
})

describe('instants', () => {
  test('are taken and given as dates, and those inside of data are left alone', async () => {
    const expires_at = new Date('2040-02-03T04:05:06.789Z')
    const data = { created_at: '2020-01-01T00:00:00Z' }
    const { id, created_at } = await tokens.create({ type: 'token', data, expires_at })
    expect(created_at).toBeInstanceOf(Date)
    const read = await tokens.get<typeof data>(id)
    expect([read.expires_at, read.data]).toEqual([expires_at, data])
    const [listedOne] = (await tokens.listPage({ id: [id] })).data
    expect([listedOne?.expires_at, listedOne?.data]).toEqual([expires_at, data])
    const changed = await tokens.update(id, { expires_at: '2041-01-01' })
    expect(changed.expires_at).toEqual(new Date('2041-01-01'))
    expect(await clientOf('private').detokenize({ a: ref(id, '$.created_at') })).toEqual({
      a: data.created_at,
    })
  })

  test('of sessions, applications and their keys, as well', async () => {
    const { applications, sessions, tenant } = clientOf('management')
    const { expires_at } = await clientOf('public').sessions.create()
    expect(expires_at).toBeInstanceOf(Date)
    const [application] = await listed(applications.list({ limit: 1 }))
    const [key] = await applications.keys.list(application?.id ?? '')
    const [session] = await listed(sessions.list({ limit: 1 }))
    for (const thing of [application, key, session, await tenant.get()]) {
      expect(thing?.created_at).toBeInstanceOf(Date)
    }
  })
})

describe('values without a JSON text', () => {
  class Amount {
    readonly cents = 17
  }

  // proves C1.13
  test.each<[unknown, string]>([
    [new Date('none'), 'invalid Date'],
    [Number.NaN, 'NaN or an infinite number'],
    [Number.POSITIVE_INFINITY, 'NaN or an infinite number'],
    [new Map([['a', 1]]), 'Map'],
    [new Set([1]), 'Set'],
    [12n, 'BigInt'],
    [/secret/, 'RegExp'],
    [new Uint8Array(3), 'Uint8Array'],
    [Buffer.from('secret'), 'Uint8Array'],
    [new ArrayBuffer(3), 'ArrayBuffer'],
    [Promise.resolve('secret'), 'Promise'],
    [new Error('secret'), 'Error'],
    [Symbol('secret'), 'symbol'],
    [() => 'secret', 'function'],
  ])('%p is refused, and nothing is sent', async (value, kind) => {
    const [{ pagination: before }] = [await tokens.listPage({ size: 1 })]
    for (const data of [value, { deep: [value] }, { deep: { deeper: value } }]) {
      const sent = tokens.create({ type: 'token', data })
      const error = await sent.then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(TypeError)
      expect(String(error)).toContain(`body: expected what JSON can hold, got ${kind}`)
      expect(String(error)).not.toContain('secret')
    }
    expect((await tokens.listPage({ size: 1 })).pagination).toEqual(before)
  })

  test('undefined in an array is refused, a member that is undefined is none', async () => {
    for (const data of [[1, undefined], Array.from({ length: 2 })]) {
      const sent = tokens.create({ type: 'token', data })
      await expect(sent).rejects.toThrow('got undefined in an array')
    }
    const made = await tokens.create({ type: 'token', data: { a: 1, b: undefined } })
    expect((await tokens.get<object>(made.id)).data).toEqual({ a: 1 })
  })

  test('objects of a class and what has a text of its own are sent', async () => {
    const at = new Date('2030-01-02T03:04:05Z')
    const data = { amount: new Amount(), at, url: new URL('https://shop.example/a') }
    const { id } = await tokens.create({ type: 'token', data })
    expect((await tokens.get<object>(id)).data).toEqual({
      amount: { cents: 17 },
      at: '2030-01-02T03:04:05.000Z',
      url: 'https://shop.example/a',
    })
  })
})

describe('a reference', () => {
  test('leads to data, or to what a path leads to', () => {
    expect(ref('order-17')).toBe('{{ order-17 }}')
    expect(ref('order-17', '$.number')).toBe("{{ order-17 | json: '$.number' }}")
    expect(ref('order-17', "$['a b']")).toBe(`{{ order-17 | json: "$['a b']" }}`)
  })

  test.each([
    ['', undefined],
    ['secret | reveal_last: 4', undefined],
    ['secret }}', undefined],
    ['a', 'secret'],
    ['a', '$.secret\' | x: "'],
    ['a', '$.secret }}'],
  ])('is not made of %p and %p, which it does not repeat', (id, path) => {
    expect(() => ref(id, path)).toThrow('ref: expected')
    expect(() => ref(id, path)).not.toThrow('secret')
  })
})

describe('a notation in place of JSON', () => {
  const big =
    '{"id":"big","type":"token","data":12345678901234567890,' +
    '"expires_at":"2100-01-01T00:00:00+02:00"}'
  const texts: string[] = []
  const raw = clientOf('private', {
    json: {
      parse: text => (texts.push(text), JSON.parse(text)),
      stringify: () => big,
    },
  })

  test('prints what is sent and reads what is answered, instants as well', async () => {
    const { expires_at: expiry } = await raw.tokens.create({ type: 'token', data: 1 })
    expect(expiry as unknown).toBe('2100-01-01T00:00:00.000+02:00')
    const page = await raw.tokens.listPage({ id: ['big'] })
    expect(page.data[0]?.expires_at as unknown).toBe('2100-01-01T00:00:00.000+02:00')
    expect(texts.at(-1)).toContain('"data":12345678901234567890')
  })

  test('is asked for an error, and for no body where there is none', async () => {
    const failed = raw.tokens.get('absent')
    await expect(failed).rejects.toMatchObject({ code: 'not_found' })
    expect(texts.at(-1)).toContain('"status":404')
    await tokens.create({ id: 'gone', type: 'token', data: 1 })
    expect(await raw.tokens.delete('gone')).toBeUndefined()
  })
})

describe('wrong use is told before anything is sent', () => {
  let count = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => {
      count += 1
      return Response.json({ id: 'a' })
    },
  })
  afterwards(() => server.stop(true))
  const nowhere = createClient({ address: server.url.origin, key: 'key_a' }).tokens

  test.each([
    [{ timeout: 5 }, 'options of a call: expected no options but'],
    ['secret', 'options of a call: expected no options but'],
    [{ timeoutMs: 0 }, 'timeoutMs: expected a whole number'],
    [{ timeoutMs: 2 ** 31 }, 'timeoutMs: expected a whole number'],
    [{ timeoutMs: '5s' }, 'timeoutMs: expected a whole number'],
    [{ retries: -1 }, 'retries: expected a whole number'],
    [{ signal: {} }, 'signal: expected an AbortSignal'],
    [{ signal: null }, 'signal: expected an AbortSignal'],
    [{ headers: { 'svc-api-key': 'secret' } }, 'headers, number 1: expected no header'],
    [{ headers: { 'Content-Type': 'secret' } }, 'headers, number 1: expected no header'],
    [{ headers: { a: 'b', 'x y': 'secret' } }, 'headers, number 2: expected a name'],
    [{ headers: { a: 'secret\r\nb: c' } }, 'headers, number 1: expected a name'],
    [{ headers: { a: 17 } }, 'headers, number 1: expected a name'],
  ])('options of a call: %p', async (options, message) => {
    const failed: unknown = await nowhere.get('a', options as never).catch((e: unknown) => e)
    expect(failed).toBeInstanceOf(TypeError)
    expect(String(failed)).toContain(message)
    expect(String(failed)).not.toContain('secret')
    expect(count).toBe(0)
  })

  test.each([
    [{ timeout: 5 }, 'createClient: expected no options but'],
    [{ timeoutMs: Number.NaN }, 'timeoutMs: expected'],
    [{ retries: 1.5 }, 'retries: expected'],
    [{ headers: { 'SVC-Trace-Id': 'secret' } }, 'headers, number 1'],
    [{ onRequest: 'secret' }, 'onRequest: expected a function'],
    [{ onResponse: {} }, 'onResponse: expected a function'],
    [{ fetch: 'secret' }, 'fetch: expected a function'],
    [{ json: null }, 'json: expected parse and stringify'],
    [{ json: { parse: 'secret' } }, 'json: expected parse and stringify'],
  ])('options of a client: %p', (options, message) => {
    const make = () => createClient({ address, key: 'key_a', ...(options as object) })
    expect(make).toThrow(message)
    expect(make).not.toThrow('secret')
  })

  test.each([[{ size: 0 }], [{ size: 101 }], [{ limit: 0 }], [{ limit: 1.5 }]])(
    'a wrong walk of a list: %p',
    async choice => {
      const walks = [nowhere.list(choice), nowhere.search({ query: '*', ...choice })]
      for (const walk of walks) await expect(walk.next()).rejects.toThrow('expected a whole number')
      expect(count).toBe(0)
    },
  )

  test('a call that would delete more than was meant', async () => {
    for (const query of ['', ' ', undefined]) {
      const sent = nowhere.deleteWhere(query as string)
      await expect(sent).rejects.toThrow('query: expected a text such as')
    }
    await expect(nowhere.deleteMany('secret')).rejects.toThrow('deleteMany: expected a list of ids')
    expect(count).toBe(0)
  })
})
