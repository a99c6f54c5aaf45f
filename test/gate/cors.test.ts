/**
 * Browsers of other origins: preflights, what answers expose, and origins that are set. Contract
 * section 1.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { canary } from '../support/refusal.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

const shop = 'https://shop.example'

let open: TestVault
let bound: TestVault
let closed: TestVault
beforeAll(async () => {
  open = await openTestVault(114, { keyHeaders: ['bt-api-key'] })
  bound = await openTestVault(115, { corsOrigins: [shop, 'https://pay.example:8443'] })
  closed = await openTestVault(116, { corsOrigins: [] })
})

const preflight = (
  vault: TestVault,
  path: string,
  origin = shop,
  asked: Readonly<Record<string, string>> = {},
) =>
  vault.ask('OPTIONS', path, {
    headers: { Origin: origin, 'Access-Control-Request-Method': 'POST', ...asked },
  })

describe('a preflight', () => {
  // proves C1.50, C1.52, C1.53
  test('is answered at every known address, without a key', async () => {
    for (const path of ['/tokens', '/tokens/', '/tokens/any', '/sessions', '/applications/key']) {
      const { status, text, headers } = await preflight(open, path)
      expect([path, status, text]).toEqual([path, 204, ''])
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-allow-methods')).toBe('GET, POST, PUT, PATCH, DELETE')
      expect(headers.get('access-control-allow-headers')).toBe(
        'SVC-API-KEY, bt-api-key, Content-Type, SVC-TRACE-ID, SVC-IDEMPOTENCY-KEY, SVC-REASON',
      )
      expect(headers.get('access-control-max-age')).toBe('600')
      expect(headers.has('access-control-allow-credentials')).toBe(false)
      expect(headers.get('svc-trace-id')).toMatch(/^[0-9a-f]{16}-/)
    }
  })

  test('is 404 at an unknown address', async () => {
    expect((await preflight(open, '/absent')).status).toBe(404)
  })

  // proves C1.54
  test('allows the headers by which clients name themselves, and repeats no others', async () => {
    const asked = `content-type, BT-Client-User-Agent, x-${canary}, x-client-user-agent-${canary}`
    const { headers } = await preflight(open, '/tokens', shop, {
      'Access-Control-Request-Headers': `${asked}, a b-client-user-agent`,
    })
    const allowed = headers.get('access-control-allow-headers') ?? ''
    expect(allowed).toEndWith('SVC-REASON, bt-client-user-agent')
    expect(allowed).not.toContain(canary)
  })

  test('allows so many of them and no more', async () => {
    const asked = Array.from({ length: 50 }, (_, index) => `a${index}-client-user-agent`)
    const { headers } = await preflight(open, '/tokens', shop, {
      'Access-Control-Request-Headers': asked.join(','),
    })
    expect(headers.get('access-control-allow-headers')?.split('client-user-agent').length).toBe(5)
  })

  const allowedOf = async (vault: TestVault, asked: readonly string[]) => {
    const headers = { 'Access-Control-Request-Headers': asked.join(',') }
    const answer = await preflight(vault, '/tokens', shop, headers)
    return answer.headers.get('access-control-allow-headers')?.split(', ') ?? []
  }

  test('allows what tracers and common clients add to each request', async () => {
    const sent = [
      'Traceparent',
      'tracestate',
      'baggage',
      'sentry-trace',
      'b3',
      'x-b3-traceid',
      'x-datadog-trace-id',
      'x-datadog-parent-id',
      'x-datadog-origin',
      'x-datadog-tags',
      'x-datadog-sampling-priority',
      'X-Requested-With',
      'Cache-Control',
      'pragma',
    ]
    const allowed = await allowedOf(open, [...sent, 'cookie', 'authorization', `x-b3-${canary}`])
    expect(allowed).toEqual(expect.arrayContaining(sent.map(name => name.toLowerCase())))
    for (const other of ['cookie', 'authorization', `x-b3-${canary}`]) {
      expect(allowed).not.toContain(other)
    }
  })

  // proves C1.55, P33
  test('allows what generated clients send beside', async () => {
    const sent = [
      'X-Fern-Language',
      'X-Fern-SDK-Name',
      'X-Fern-SDK-Version',
      'X-Fern-Runtime',
      'X-Fern-Runtime-Version',
      'Idempotency-Key',
      'X-Request-Id',
    ]
    const asked = [...sent, `x-fern-${canary}`, 'x-fern-', `x-request-id-${canary}`, 'bt-version']
    const allowed = await allowedOf(open, asked)
    expect(allowed.slice(6)).toEqual(sent.map(name => name.toLowerCase()))
    expect(await allowedOf(open, [])).toHaveLength(6)
  })

  // proves C1.56, P33
  test('allows what is asked for under a prefix that is set, and under no other', async () => {
    const vault = await openTestVault(117, { headerPrefix: ['bt'] })
    const asked = [
      'BT-Version',
      'bt-',
      `bt-${'a'.repeat(41)}`,
      'bt-a b',
      'xbt-version',
      'other-version',
    ]
    const allowed = await allowedOf(vault, asked)
    expect(allowed.filter(name => name.includes('version'))).toEqual(['bt-version'])
    expect(allowed.filter(name => name.startsWith('bt-'))).toEqual([
      'bt-api-key',
      'bt-trace-id',
      'bt-idempotency-key',
      'bt-reason',
      'bt-version',
    ])
    const many = await allowedOf(
      vault,
      Array.from({ length: 50 }, (_, index) => `bt-a${index}`),
    )
    expect(many.filter(name => name.startsWith('bt-a')).length).toBe(1 + 4)
  })

  test('is not what every OPTIONS is: the others are told what is allowed here', async () => {
    const { status, headers, text } = await open.ask('OPTIONS', '/tokens/any')
    expect([status, text]).toEqual([204, ''])
    expect(headers.get('allow')).toBe('GET, HEAD, PATCH, DELETE, OPTIONS')
    expect(headers.has('access-control-allow-methods')).toBe(false)
    expect((await open.ask('OPTIONS', '/absent')).status).toBe(404)
  })
})

// proves C2.19
test('at the address of the own application only GET is known: no id is written so', async () => {
  const { headers } = await open.ask('OPTIONS', '/applications/key')
  expect(headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  const key = open.managementKey
  for (const method of ['PUT', 'DELETE', 'POST', 'PATCH']) {
    const answer = await open.ask(method, '/applications/key', { key })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  }
  const other = await open.ask('OPTIONS', `/applications/${open.tenantId}`)
  expect(other.headers.get('allow')).toBe('GET, HEAD, PUT, DELETE, OPTIONS')
  const search = await open.ask('OPTIONS', '/tokens/search')
  expect(search.headers.get('allow')).toBe('GET, HEAD, POST, PATCH, DELETE, OPTIONS')
})

describe('an answer', () => {
  const answers = (vault: TestVault, headers: Readonly<Record<string, string>>) => {
    const key = vault.managementKey
    return Promise.all([
      vault.ask('GET', '/applications/key', { key, headers }),
      vault.ask('GET', '/applications/key', { headers }),
      vault.ask('GET', '/tokens', { key, headers }),
      vault.ask('GET', '/absent', { headers }),
      vault.ask('PUT', '/tokens', { headers }),
      vault.ask('POST', '/applications', { key, headers, raw: '[' }),
      vault.ask('POST', '/applications', { key, headers, raw: '', type: 'text/plain' }),
    ])
  }
  const statuses = [200, 401, 403, 404, 405, 400, 415]

  // proves C1.51, C1.57, C1.59
  test('may be read by any origin, errors too', async () => {
    const all = await answers(open, { Origin: shop })
    expect(all.map(({ status }) => status)).toEqual(statuses)
    for (const { headers } of all) {
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-expose-headers')).toBe('SVC-TRACE-ID, Location')
    }
  })

  // proves C1.58
  test('that is given again exposes that it is, and only then', async () => {
    const permissions = ['token:create']
    for (const vault of [open, bound, closed]) {
      const key = await vault.application({ type: 'private', permissions })
      const headers = { Origin: shop, 'SVC-IDEMPOTENCY-KEY': 'once' }
      const body = { type: 'token', data: 'a' }
      const first = await vault.ask('POST', '/tokens', { key, headers, body })
      const again = await vault.ask('POST', '/tokens', { key, headers, body })
      const names = 'SVC-TRACE-ID, Location'
      const exposed = [first, again].map(each => each.headers.get('access-control-expose-headers'))
      expect(again.headers.get('svc-idempotent-replay')).toBe('true')
      expect(exposed).toEqual(
        vault === closed ? [null, null] : [names, `${names}, SVC-IDEMPOTENT-REPLAY`],
      )
    }
  })

  test('that says when to ask again exposes it', async () => {
    const app = buildApp(open.deps)
    await app.drain()
    const { headers } = await app.handle(requestOf('GET', '/tokens', { headers: { Origin: shop } }))
    expect(headers.get('access-control-expose-headers')).toEndWith(', Retry-After')
  })

  test('may be read by the origins that are set, and says that it depends on them', async () => {
    for (const origin of [shop, 'https://pay.example:8443']) {
      for (const { headers } of await answers(bound, { Origin: origin })) {
        expect(headers.get('access-control-allow-origin')).toBe(origin)
        expect(headers.get('vary')).toBe('Origin')
      }
    }
  })

  // proves C1.51
  test('may be read by no other origin, however alike', async () => {
    const others = [
      'https://evil.example',
      'http://shop.example',
      'https://shop.example:444',
      'https://shop.example.evil.example',
      'https://SHOP.example',
      'null',
      `https://${canary}.example`,
    ]
    for (const Origin of others) {
      const all = [...(await answers(bound, { Origin })), await preflight(bound, '/tokens', Origin)]
      for (const { headers, text } of all) {
        expect([Origin, headers.get('access-control-allow-origin')]).toEqual([Origin, null])
        expect(headers.get('vary')).toBe('Origin')
        expect([...headers].join() + text).not.toContain(canary)
      }
    }
  })

  test('may be read by none where none is set', async () => {
    for (const { headers } of await answers(closed, { Origin: shop })) {
      expect([...headers.keys()].filter(name => name.startsWith('access-control'))).toEqual([])
    }
  })
})

test('every answer of the interface is kept by nobody, and is what it says', async () => {
  const key = open.managementKey
  const answers = await Promise.all([
    open.ask('GET', '/applications', { key }),
    open.ask('GET', '/applications'),
    open.ask('GET', '/absent'),
    open.ask('DELETE', '/applications/none', { key }),
    preflight(open, '/tokens'),
  ])
  for (const { headers } of answers) {
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
})
