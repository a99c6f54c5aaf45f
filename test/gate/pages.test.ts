/**
 * Pages that need no key: connections that ask for them and read nothing have the room of one
 * credential together, and every other caller is answered.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { readFileSync } from 'node:fs'
import { credentialAnswersBytesMax } from '../../src/limits/limits.ts'
import { until } from '../support/until.ts'
import { openWire, requestText, type Wire } from '../support/wire.ts'

const connections = 60
const script = 'swagger-ui-dist/swagger-ui-bundle.js'
const scriptBytes = readFileSync(new URL(import.meta.resolve(script)).pathname)

let wire: Wire
beforeAll(async () => {
  wire = await openWire(102)
})
afterAll(() => wire.close())

interface Asker {
  readonly socket: Socket
  readonly status: Promise<string>
}

/** Asks, and reads no more than the first bytes. */
function askAndStop(target: string): Asker {
  const { promise: status, resolve } = Promise.withResolvers<string>()
  const socket = connect(wire.port, '127.0.0.1', () => socket.write(requestText('GET', target)))
  socket.once('data', data => {
    socket.pause()
    resolve(data.toString('latin1').slice(9, 12))
  })
  socket.on('error', () => resolve('ended'))
  socket.on('close', () => resolve('ended'))
  return { socket, status }
}

const page = (target: string, method = 'GET') =>
  fetch(`http://127.0.0.1:${wire.port}${target}`, { method })

describe(`${connections} connections that ask for a page and read nothing`, () => {
  // proves E26.1, S76
  test('are given what fits into the room of one credential, and hold nobody else up', async () => {
    const askers = Array.from({ length: connections }, () => askAndStop('/swagger/ui.js'))
    const good = await wire.ask('GET', '/applications/key')
    const statuses = await Promise.all(askers.map(({ status }) => status))
    const fit = Math.floor(credentialAnswersBytesMax / scriptBytes.length)
    expect(statuses.filter(status => status === '200')).toHaveLength(fit)
    expect(statuses.filter(status => status === '503')).toHaveLength(connections - fit)
    expect(good.status).toBe(200)
    // Short pages and answers of operations have room as ever.
    expect((await page('/elements/card')).status).toBe(200)
    expect((await wire.ask('POST', '/tokens', '{"type":"token","data":1}')).status).toBe(201)
    for (const { socket } of askers) socket.destroy()
    let found = await page('/swagger/ui.js')
    await until(async () => {
      found = await page('/swagger/ui.js')
      return found.status !== 503
    })
    expect(found.status).toBe(200)
    expect(Buffer.from(await found.arrayBuffer()).equals(scriptBytes)).toBe(true)
  })

  test('HEAD takes no room, and tells the length', async () => {
    const all = Array.from({ length: connections }, () => page('/swagger/ui.js', 'HEAD'))
    for (const found of await Promise.all(all)) {
      expect(found.status).toBe(200)
      expect(found.headers.get('content-length')).toBe(String(scriptBytes.length))
    }
  })
})

describe('what follows a long answer that is under way', () => {
  const traced = { 'SVC-TRACE-ID': 'behind' }
  const json = () => ({ ...traced, 'SVC-API-KEY': wire.key, 'Content-Type': 'application/json' })

  // The runtime ends the connection (oven-sh/bun#38128).
  // proves H23
  test.each<readonly [string, () => string]>([
    ['a create', () => requestText('POST', '/tokens', json(), '{"id":"behind","type":"token"}')],
    ['a read', () => requestText('GET', '/tokens', json())],
    ['one without a key', () => requestText('GET', '/tokens', traced)],
    ['one of a huge body', () => requestText('POST', '/tokens', { 'Content-Length': '99999999' })],
    ['a malformed one', () => 'GET /tokens\r\n\r\n'],
  ])('is never run, and the answer is seen to be cut: %s', async (_, behind) => {
    const received = await wire.send(requestText('GET', '/swagger/ui.js') + behind(), 2)
    expect(received.text).toStartWith('HTTP/1.1 200 ')
    expect([received.answers, received.isClosed]).toEqual([[], true])
    expect(received.text).not.toContain('behind')
    expect((await wire.ask('GET', '/tokens/behind')).status).toBe(404)
    const after = await page('/swagger/ui.js')
    expect((await after.arrayBuffer()).byteLength).toBe(scriptBytes.length)
  })
})

// proves S76
test('the documentation is nowhere where a setting turns it off, and all else is', async () => {
  const without = await openWire(103, { documentationPage: false })
  try {
    for (const name of ['', '/', '/json', '/ui.js', '/ui.css', '/page.css', '/start.js']) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
        const found = await fetch(`http://127.0.0.1:${without.port}/swagger${name}`, { method })
        expect([method, name, found.status]).toEqual([method, name, 404])
        expect(await found.text()).not.toContain('swagger')
      }
    }
    expect((await fetch(`http://127.0.0.1:${without.port}/elements/card`)).status).toBe(200)
    expect((await without.ask('GET', '/applications/key')).status).toBe(200)
  } finally {
    await without.close()
  }
  expect((await page('/swagger')).status).toBe(200)
})
