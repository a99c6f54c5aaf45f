/**
 * Clients that hold a connection and send little or nothing: the server ends it. Group A of
 * docs/hostile-inputs.md, H24.
 * @module
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { bodyBytesMax, bodyMsMax, idleSecondsMax } from '../../src/limits/limits.ts'
import { expectUnharmed, openWire, type Wire } from '../support/wire.ts'

let wire: Wire
beforeAll(async () => {
  wire = await openWire(150)
})
afterAll(() => wire.close())

/** Writes the beginning, then a byte every three seconds. @returns seconds until it was ended */
function drip(beginning: string, byte: string): Promise<number> {
  const startedMs = Date.now()
  return new Promise(resolve => {
    const socket = connect(wire.port, '127.0.0.1', () => socket.write(beginning))
    const timer = byte === '' ? undefined : setInterval(() => socket.write(byte), 3_000)
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(timer)
      resolve((Date.now() - startedMs) / 1_000)
    })
    socket.resume()
  })
}

// proves H9, H24
test(
  'H24: headers and bodies in drips, and idle connections, are ended in time',
  async () => {
    const post = `POST /tokens HTTP/1.1\r\nHost: vault\r\nSVC-API-KEY: ${wire.key}\r\n`
    const body = `${post}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
    const chunks = `${post}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
    const idle = Array.from({ length: 500 }, () => drip('', ''))
    const seconds = await Promise.all([
      drip('GET /tok', 'a'),
      drip(`${post}X: `, 'a'),
      drip(body, ' '),
      drip(body, ''),
      drip(`${chunks}100000005\r\n{`, ''),
      ...idle,
    ])
    // The server looks at its connections every few seconds.
    expect(Math.max(...seconds)).toBeLessThan(idleSecondsMax + 5)
    expect(wire.vault.logged).toEqual([])
    await expectUnharmed(wire)
  },
  { timeout: 300_000 },
)

/** Sends a body at a pace that the server itself is content with. @returns status and seconds */
function trickle(bytesPerSecond: number): Promise<{ status: string; seconds: number }> {
  const startedMs = Date.now()
  const head = [
    'POST /tokens HTTP/1.1',
    'Host: vault',
    `SVC-API-KEY: ${wire.key}`,
    'Content-Type: application/json',
    `Content-Length: ${bodyBytesMax}`,
  ].join('\r\n')
  let text = ''
  return new Promise(resolve => {
    const socket = connect(wire.port, '127.0.0.1', () => socket.write(`${head}\r\n\r\n`))
    const timer = setInterval(() => socket.write(' '.repeat(bytesPerSecond)), 1_000)
    socket.on('data', data => (text += data.toString('latin1')))
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(timer)
      resolve({ status: text.slice(9, 12), seconds: (Date.now() - startedMs) / 1_000 })
    })
  })
}

// proves C16.6, E10.8
test(
  'E10.8: a body that goes on coming, but too slowly to end, is 408 in time',
  async () => {
    const { status, seconds } = await trickle(28_000)
    expect([status, seconds < bodyMsMax / 1_000 + 5]).toEqual(['408', true])
    await expectUnharmed(wire)
  },
  { timeout: 300_000 },
)
