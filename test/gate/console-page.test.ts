/**
 * The console as the vault serves it: its headers, its addresses, and its setting.
 * @module
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openWire, type Wire } from '../support/wire.ts'

let wire: Wire
beforeAll(async () => {
  wire = await openWire(106)
})
afterAll(() => wire.close())

const names = ['', '/app.js', '/app.css', '/icon.svg']

const ask = (port: number, target: string, method = 'GET') =>
  fetch(`http://127.0.0.1:${port}${target}`, { method })

// proves S100
test.each(names)('/console%s has the strictest policy, and is kept by no cache', async name => {
  const { status, headers } = await ask(wire.port, `/console${name}`)
  expect(status).toBe(200)
  expect(headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ])
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
})

test('its page holds no script and no style, and names no other host', async () => {
  const text = await (await ask(wire.port, '/console')).text()
  expect(text).not.toMatch(/<script[^>]*>[^<]|<style|style=|\son\w+=|https?:/)
  const script = await (await ask(wire.port, '/console/app.js')).text()
  expect(script.length).toBeGreaterThan(10_000)
})

test.each(['/console/nothing', '/console/app.js/x', '/console/../app.js', '/console/app'])(
  '%s is no file',
  async target => {
    expect((await ask(wire.port, target)).status).toBe(404)
  },
)

test('other methods are told what there is', async () => {
  const found = await ask(wire.port, '/console', 'POST')
  expect([found.status, found.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})

// proves S76
test('it is nowhere where a setting turns it off, and all else is', async () => {
  const without = await openWire(107, { consolePage: false })
  try {
    for (const name of names) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
        const { status } = await ask(without.port, `/console${name}`, method)
        expect([method, name, status]).toEqual([method, name, 404])
      }
    }
    expect((await ask(without.port, '/swagger')).status).toBe(200)
    expect((await without.ask('GET', '/applications/key')).status).toBe(200)
  } finally {
    await without.close()
  }
})
