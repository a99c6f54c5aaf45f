/**
 * Time that a served connection waits for its next request, and for the rest of one.
 * @module
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { join } from 'node:path'
import { idleSecondsMax } from '../../src/limits/limits.ts'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

/** More than the server has for anything else. */
const seconds = 20
/** The server looks at its connections every 4 seconds, which a busy machine may put off. */
const slackSeconds = 30

let server: Running
let port: number
let key: string
beforeAll(async () => {
  const data = join(temporaryFolder(), 'data')
  const made = await runCoffer(['init', '--data', data, '--json'])
  ;({ key } = JSON.parse(made.stdout) as { key: string })
  const words = ['--port', '0', '--keep-alive-seconds', String(seconds)]
  server = await startCoffer(['serve', '--data', data, ...words])
  port = Number(/:(\d+)\s*$/.exec(server.ready)?.[1])
})
afterAll(() => server.end('SIGKILL'))

interface Outcome {
  readonly text: string
  /** Seconds from the last written byte to the end. */
  readonly idleSeconds: number
}

/** Writes parts, a second after each other, and waits for the end of the connection. */
function converse(...parts: readonly string[]): Promise<Outcome> {
  return new Promise(resolve => {
    let text = ''
    let lastMs = performance.now()
    const left = [...parts]
    const socket = connect(port, '127.0.0.1', () => {
      const write = (): void => {
        const part = left.shift()
        if (part === undefined) return
        lastMs = performance.now()
        socket.write(part)
        setTimeout(write, 1_000)
      }
      write()
    })
    socket.on('data', piece => (text += piece.toString('latin1')))
    socket.on('error', () => {})
    socket.on('close', () => {
      resolve({ text, idleSeconds: (performance.now() - lastMs) / 1_000 })
    })
  })
}

const get = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nSVC-API-KEY: ${key}\r\n\r\n`
const half =
  'POST /applications HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
  'Content-Length: 100\r\n'

// proves H24
test('a connection that had an answer waits, and what does not go on ends as before', async () => {
  const [answered, refused, paged, again, silent, head, body] = await Promise.all([
    converse(get('/applications/key')),
    converse('GET /tokens HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    // Long enough to leave in pieces.
    converse(get('/swagger/ui.js')),
    converse(get('/applications/key'), get('/applications/key')),
    converse(),
    converse('GET /tok'),
    converse(get('/applications/key'), `${half}SVC-API-KEY: ${key}\r\n\r\n{`),
  ])
  for (const { text, idleSeconds } of [answered, refused, paged, again]) {
    expect(text).toMatch(new RegExp(`\r\nConnection: keep-alive\r\n`, 'i'))
    expect(text).toMatch(new RegExp(`\r\nKeep-Alive: timeout=${seconds}\r\n`, 'i'))
    expect(idleSeconds).toBeGreaterThanOrEqual(seconds)
    expect(idleSeconds).toBeLessThan(seconds + slackSeconds)
  }
  expect(answered.text).toStartWith('HTTP/1.1 200')
  expect(refused.text).toStartWith('HTTP/1.1 401')
  for (const { idleSeconds } of [silent, head, body]) {
    expect(idleSeconds).toBeLessThan(seconds)
    expect(idleSeconds).toBeGreaterThan(idleSecondsMax - 5)
  }
}, 120_000)

test('an answer that ends its connection promises nothing', async () => {
  const long = half.replace('100', '10000000')
  const { text, idleSeconds } = await converse(`${long}SVC-API-KEY: ${key}\r\n\r\n`)
  expect(text).toStartWith('HTTP/1.1 413')
  expect(text).toMatch(/\r\nConnection: close\r\n/i)
  expect(text).not.toMatch(/keep-alive/i)
  expect(idleSeconds).toBeLessThan(seconds)
}, 60_000)
