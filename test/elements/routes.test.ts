/**
 * The frame of the card fields as the vault serves it: headers, addresses, pages that may hold it.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { coffer } from '../../src/coffer.ts'
import { framingOrigins, pageFor } from '../../src/elements/page.ts'
import { frameScript } from '../../src/elements/script.ts'
import { schemeVariables } from '../../src/lib/look.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { startCoffer, type Running } from '../support/coffer-process.ts'
import { canary } from '../support/refusal.ts'
import { openTestVault } from '../support/vault.ts'

const paths = ['/elements/card', '/elements/card.js', '/elements/card.css', '/elements/origin']
const shop = 'https://shop.example'

type Get = (path: string, init?: RequestInit) => Promise<Response>

const getterOf = async (seed: number, settings = {}): Promise<Get> => {
  const app = buildApp((await openTestVault(seed, settings)).deps)
  return async (path, init) => app.handle(new Request(`http://localhost${path}`, init))
}

let any: Get
let bound: Get
let closed: Get
beforeAll(async () => {
  any = await getterOf(201)
  bound = await getterOf(202, { corsOrigins: [shop, 'https://pay.example:8443'] })
  closed = await getterOf(203, { corsOrigins: [] })
})

const strict =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors "

describe('the frame', () => {
  // proves S81
  test('may load its own script and style, ask its own origin, and nothing else', async () => {
    for (const path of paths) {
      const { status, headers } = await any(path)
      expect([path, status]).toEqual([path, 200])
      expect(headers.get('content-security-policy')).toBe(`${strict}*`)
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('origin-agent-cluster')).toBe('?1')
      const reach = /\.(?:js|css)$/.test(path) ? 'same-origin' : 'cross-origin'
      expect([path, headers.get('cross-origin-resource-policy')]).toEqual([path, reach])
      expect(headers.get('permissions-policy')).toMatch(/^(?:[a-z-]+=\(\)(?:, |$)){10,}$/)
      expect(headers.has('set-cookie')).toBe(false)
    }
  })

  test('has no script and style of its own in it, and links where it is', async () => {
    const text = await (await any('/elements/card')).text()
    expect(text).not.toMatch(/<style|style=|<script(?! type="module" src=)|\son\w+=|https?:/)
    const linked = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path)
    expect(linked).toEqual(['./card.css', './card.js'])
    const below = await (await any('/elements/card/')).text()
    expect(below).toContain('href="../card.css"')
  })

  // proves S82
  test('is for the origins that may call, and for none where none may', async () => {
    const policyOf = async (get: Get) =>
      (await get('/elements/card')).headers.get('content-security-policy')
    expect(await policyOf(bound)).toBe(`${strict}${shop} https://pay.example:8443`)
    expect(await policyOf(closed)).toBe(`${strict}'none'`)
    const originsIn = async (get: Get) =>
      /data-origins="([^"]*)"/.exec(await (await get('/elements/card')).text())?.[1]
    expect(await originsIn(any)).toBe('*')
    expect(await originsIn(bound)).toBe(`${shop} https://pay.example:8443`)
    expect(await originsIn(closed)).toBe('')
  })

  // proves E17.9
  test('lets no setting end a directive or an attribute', () => {
    const hostile = [
      'https://a;script-src',
      'https://a,b',
      "https://'unsafe-inline'",
      'https://a"b',
      'https://*.shop.example',
      'https://*',
    ]
    expect(framingOrigins([...hostile, shop, 'https://a&b', 'https://a<b'])).toEqual([shop])
    expect(framingOrigins([shop, '*'])).toEqual(['*'])
    expect(pageFor([], '.')).toContain('data-origins=""')
  })
})

describe('the answer whether an origin may hold it', () => {
  const allowed = async (get: Get, origin?: string) => {
    const answer = await get('/elements/origin', {
      headers: origin === undefined ? {} : { origin },
    })
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('vary')).toBe('Origin')
    return ((await answer.json()) as { allowed: boolean }).allowed
  }

  // proves F3
  test('is told to it, whichever it is', async () => {
    expect(await allowed(any, shop)).toBe(true)
    expect(await allowed(bound, shop)).toBe(true)
    expect(await allowed(bound, 'https://shop.example.evil.example')).toBe(false)
    expect(await allowed(bound, 'null')).toBe(false)
    expect(await allowed(bound)).toBe(false)
    expect(await allowed(closed, shop)).toBe(false)
  })
})

describe('the addresses', () => {
  // proves F1
  test('have GET, HEAD and OPTIONS alone', async () => {
    for (const path of paths) {
      const head = await any(path, { method: 'HEAD' })
      expect([path, head.status, await head.text()]).toEqual([path, 200, ''])
      const options = await any(path, { method: 'OPTIONS' })
      expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        expect([path, method, (await any(path, { method })).status]).toEqual([path, method, 405])
      }
    }
  })

  // proves F1
  test.each([
    '/elements',
    '/elements/',
    '/elements/main.ts',
    '/elements/frame/main.ts',
    '/elements/card.ts',
    '/elements/card.js.map',
    '/elements/host/index.ts',
    '/elements//card',
    '/elements/card.js/more',
    `/elements/${canary}`,
  ])('%s is none of them', async path => {
    const answer = await any(path)
    expect(answer.status).toBe(404)
    expect(await answer.text()).not.toContain(canary)
  })

  // proves F2
  test('say nothing of the vault to anybody', async () => {
    const vault = await openTestVault(204)
    const app = buildApp(vault.deps)
    const headers = { 'svc-api-key': vault.managementKey, origin: canary, referer: canary }
    for (const path of paths) {
      const ask = (init = {}) => app.handle(new Request(`http://localhost${path}?${canary}`, init))
      const [plain, keyed] = await Promise.all([
        (await ask()).text(),
        (await ask({ headers })).text(),
      ])
      expect(keyed).toBe(plain)
      for (const secret of [canary, vault.managementKey, vault.tenantId]) {
        expect(keyed).not.toContain(secret)
      }
    }
  })

  // proves F1
  test('stand below a base path, and in a host that mounts the vault', async () => {
    const based = await getterOf(205, { basePath: '/vault' })
    const { deps } = await openTestVault(206)
    const used = new Elysia({ prefix: '/pay' }).use(coffer(deps))
    const mounted = new Elysia().mount('/pay', coffer(deps).handle)
    const places: readonly (readonly [string, Get])[] = [
      ['/vault', based],
      ['/pay', async path => used.handle(new Request(`http://localhost${path}`))],
      ['/pay', async path => mounted.handle(new Request(`http://localhost${path}`))],
    ]
    for (const [prefix, get] of places) {
      for (const path of paths) expect((await get(prefix + path)).status).toBe(200)
      expect((await get('/elements/card')).status).toBe(404)
      const page = await (await get(`${prefix}/elements/card`)).text()
      expect(page).toContain('src="./card.js"')
    }
  })
})

describe('a process', () => {
  let running: Running
  let address: string
  beforeAll(async () => {
    running = await startCoffer(['dev', '--port', '0', '--json'])
    address = (JSON.parse(running.ready) as { base_url: string }).base_url
  })
  afterAll(() => running.end('SIGTERM'))

  // proves F4
  test('serves what the source has, the binary too', async () => {
    const get = async (path: string) => {
      const answer = await fetch(address + path)
      return [answer.status, answer.headers.get('content-type'), await answer.text()]
    }
    const utf8 = '; charset=utf-8'
    expect(await get('/elements/card')).toEqual([200, `text/html${utf8}`, pageFor(['*'], '.')])
    expect(await get('/elements/card/')).toEqual([200, `text/html${utf8}`, pageFor(['*'], '..')])
    expect(await get('/elements/card.js')).toEqual([
      200,
      `text/javascript${utf8}`,
      await frameScript(),
    ])
    const style = schemeVariables + (await Bun.file('src/elements/card.css').text())
    expect(await get('/elements/card.css')).toEqual([200, `text/css${utf8}`, style])
    expect(await get('/elements/origin')).toEqual([
      200,
      `application/json${utf8}`,
      '{"allowed":true}',
    ])
  })

  test('sends no body for HEAD', async () => {
    const head = await fetch(`${address}/elements/card.js`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })
})
