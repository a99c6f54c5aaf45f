/**
 * The typed client where the wire, the vault or the caller does not play along.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { createClient, CofferError } from '../../src/client/index.ts'
import { afterwards, openServed, openWire } from './served.ts'

const { port, keys, clientOf, vault } = await openServed(2, { requestsPerSecondMax: 1_000_000 })

const total = async (): Promise<number> =>
  (await clientOf('private').tokens.listPage({ size: 1 })).pagination.total_items

/** Gives these answers in turn, then nothing but 404. */
function openScripted(answers: (() => Response | Promise<Response>)[]): string {
  let count = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => answers[count++]?.() ?? new Response('', { status: 404 }),
  })
  afterwards(() => server.stop(true))
  return server.url.origin
}

const problem =
  (status: number, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ status, detail: 'as scripted' }, { status, headers })
const good = () => Response.json({ id: 'good' })

const at = (address: string, options: { retries?: number; timeoutMs?: number } = {}) =>
  createClient({ address, key: keys.private, ...options }).tokens

const failing = async (call: Promise<unknown>): Promise<CofferError> => {
  try {
    await call
  } catch (thrown) {
    return thrown as CofferError
  }
  throw new Error('it succeeded')
}

describe('where an answer is lost', () => {
  test('a token is created once, and its create answers', async () => {
    const before = await total()
    const tokens = at(await openWire(port, ['answer lost', 'answer lost']))
    const { id } = await tokens.create({ type: 'token', data: 'once' })
    expect((await clientOf('private').tokens.get(id)).data).toBe('once')
    expect(await total()).toBe(before + 1)
  })

  test('a token that is gone by then is deleted', async () => {
    const { id } = await clientOf('private').tokens.create({ type: 'token', data: 1 })
    await at(await openWire(port, ['answer lost'])).delete(id)
    expect((await failing(clientOf('private').tokens.get(id))).code).toBe('not_found')
    expect((await failing(clientOf('private').tokens.delete(id))).code).toBe('not_found')
  })

  test('a delete has failed that was refused, or that no vault answers', async () => {
    const gone = problem(404, { 'svc-trace-id': 'of-a-vault' })
    const page = () => new Response('<html>', { status: 404 })
    const cases = [
      [[problem(429), gone], 'not_found'],
      [[problem(408), gone], 'not_found'],
      [[problem(503), page], 'not_coffer'],
      [[problem(503), problem(404)], 'not_coffer'],
    ] as const
    for (const [answers, code] of cases) {
      expect((await failing(at(openScripted([...answers])).delete('a'))).code).toBe(code)
    }
    await at(openScripted([problem(500), gone])).delete('a')
  })

  test('a key that was shown to nobody is a conflict, not a second application', async () => {
    const address = await openWire(port, ['answer lost'])
    const { applications } = createClient({ address, key: vault.managementKey })
    const call = applications.create({
      name: 'Lost',
      type: 'public',
      permissions: ['token:create'],
    })
    expect((await failing(call)).code).toBe('conflict')
    const names: string[] = []
    for await (const { name } of clientOf('management').applications.list()) names.push(name)
    expect(names.filter(name => name === 'Lost')).toHaveLength(1)
  })

  test('it fails once it was tried often enough', async () => {
    const address = await openWire(port, ['answer lost', 'answer lost'])
    const error = await failing(at(address, { retries: 1 }).get('a'))
    expect(error).toMatchObject({ status: 0, code: 'unreachable' })
    expect(error.message).toContain(address)
  })
})

describe('it is sent again', () => {
  test.each([408, 429, 500, 502, 503, 504, 507])('after %d', async status => {
    expect((await at(openScripted([problem(status), good])).get('a')).id).toBe('good')
  })

  test('no sooner than the vault says', async () => {
    const startMs = performance.now()
    await at(openScripted([problem(503, { 'retry-after': '1' }), good])).get('a')
    expect(performance.now() - startMs).toBeGreaterThan(990)
  })

  test('where another request of the same key is under way', async () => {
    const answers = [problem(409, { 'retry-after': '0' }), good]
    const made = await at(openScripted(answers)).create({ type: 'token', data: 1 })
    expect(made.id).toBe('good')
  })
})

describe('it is not sent again', () => {
  test.each([400, 401, 403, 404, 409, 413, 415])('after %d', async status => {
    expect((await failing(at(openScripted([problem(status), good])).get('a'))).status).toBe(status)
  })

  test('where the vault asks for a longer wait than anybody wants', async () => {
    const answers = [problem(503, { 'retry-after': '3600' }), good]
    expect((await failing(at(openScripted(answers)).get('a'))).status).toBe(503)
  })

  test('where the function for the key fails, whatever it fails with', async () => {
    const reason = new CofferError('no session', { code: 'unreachable' })
    let count = 0
    const key = () => {
      count += 1
      throw reason
    }
    const { tokens } = createClient({ address: openScripted([good]), key })
    expect(await failing(tokens.get('a'))).toBe(reason)
    expect(count).toBe(1)
  })

  test('where no retries are wanted', async () => {
    expect(
      (await failing(at(openScripted([problem(503), good]), { retries: 0 }).get('a'))).status,
    ).toBe(503)
  })
})

describe('a call ends', () => {
  const silence = () => new Promise<Response>(() => {})

  test('when an answer takes too long', async () => {
    const tokens = at(openScripted([silence]), { retries: 0, timeoutMs: 30 })
    expect(await failing(tokens.get('a'))).toMatchObject({ code: 'timeout', status: 0 })
  })

  test('when a body stops coming', async () => {
    const cutOff = () =>
      new Response(new ReadableStream({ start: controller => controller.enqueue('{"id"') }))
    const tokens = at(openScripted([cutOff]), { retries: 0, timeoutMs: 100 })
    expect((await failing(tokens.get('a'))).code).toBe('timeout')
  })

  test('when its signal says so, with the reason of that', async () => {
    const reason = new Error('the shop is closed')
    const ends = new AbortController()
    const call = at(openScripted([silence])).get('a', { signal: ends.signal })
    ends.abort(reason)
    expect((await failing(call)) as Error).toBe(reason)
    const ended = at(openScripted([good])).get('a', { signal: AbortSignal.abort(reason) })
    expect((await failing(ended)) as Error).toBe(reason)
  })

  test('in the wait between two attempts, at once', async () => {
    const reason = new Error('the shop is closed')
    const ends = new AbortController()
    const answers = [problem(503, { 'retry-after': '30' }), good]
    const call = at(openScripted(answers)).get('a', { signal: ends.signal })
    setTimeout(() => ends.abort(reason), 50)
    expect((await failing(call)) as Error).toBe(reason)
  })

  test('between two attempts, too', async () => {
    const reason = new Error('the shop is closed')
    const ends = new AbortController()
    const answer = () => {
      ends.abort(reason)
      return problem(503)()
    }
    const call = at(openScripted([answer, good])).get('a', { signal: ends.signal })
    expect((await failing(call)) as Error).toBe(reason)
  })
})
