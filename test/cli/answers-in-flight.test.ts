/**
 * The memory of a serving process under hundreds of connections that ask for long lists and read
 * nothing: it grows by the budget and a constant. Source: docs/hostile-inputs.md, E10.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { credentialAnswersBytesMax } from '../../src/limits/limits.ts'
import { startCoffer, type Running } from '../support/coffer-process.ts'
import { until } from '../support/until.ts'

const connections = 150
const tokens = 20
const dataChars = 500_000
/**
 * Memory of a process beside the answers that it holds: rows of lists that are refused, what is
 * opened, and garbage that is not collected yet. All the answers together are 1.5 GB.
 */
const besidesBytes = 512 * 1024 ** 2

let running: Running
let port: number
let privateKey: string
let publicKey: string

async function ask(method: string, path: string, key: string, body?: unknown) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'SVC-API-KEY': key, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

beforeAll(async () => {
  running = await startCoffer(['dev', '--json', '--port', '0'])
  const facts = JSON.parse(running.ready) as Record<string, string>
  port = Number(new URL(facts['base_url'] ?? '').port)
  privateKey = facts['private_key'] ?? ''
  publicKey = facts['public_key'] ?? ''
  const body = { type: 'token', data: 'x'.repeat(dataChars), mask: '{{ data }}' }
  for (let count = 0; count < tokens; count += 1) {
    expect((await ask('POST', '/tokens', privateKey, body)).status).toBe(201)
  }
})
afterAll(() => running.end('SIGTERM'))

/** The most memory that the process ever had. */
function peakBytes(): number {
  const status = readFileSync(`/proc/${running.pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024
}

/** Caller that stops reading after the first bytes; `status` is the one it got, or `ended`. */
interface Asker {
  readonly socket: Socket
  status?: string | undefined
}

function askAndStop(request: string): Asker {
  const socket = connect(port, '127.0.0.1', () => socket.write(request))
  const asker: Asker = { socket }
  const end = () => (asker.status ??= 'ended')
  socket.once('data', data => {
    asker.status ??= /^HTTP\/1\.1 (\d{3})/.exec(data.toString('latin1'))?.[1]
    socket.pause()
  })
  socket.on('error', end)
  socket.on('close', end)
  return asker
}

const search = JSON.stringify({ query: 'type:token', size: tokens })
const attacks: readonly (readonly [string, string, string])[] = [
  ['of a list', `GET /tokens?size=${tokens} HTTP/1.1`, ''],
  [
    'of a search',
    'POST /tokens/search HTTP/1.1\r\nContent-Type: application/json\r\n' +
      `Content-Length: ${search.length}`,
    search,
  ],
]

describe(`${connections} long answers that nobody reads`, () => {
  // proves C16.5, E10.23, S64
  test.each(attacks)(
    'E10.23: %s, take no more memory than the budget and a constant, and others are served',
    async (_, head, body) => {
      const before = peakBytes()
      const request = `${head}\r\nHost: a\r\nSVC-API-KEY: ${privateKey}\r\n\r\n${body}`
      const askers = Array.from({ length: connections }, () => askAndStop(request))
      while (askers.some(({ status }) => status === undefined)) await Bun.sleep(20)
      const made = await ask('POST', '/tokens', publicKey, { type: 'token', data: 1 })
      expect(made.status).toBe(201)
      expect(peakBytes() - before).toBeLessThan(credentialAnswersBytesMax + besidesBytes)
      const statuses = askers.map(({ status }) => status)
      expect(statuses).toContain('200')
      expect(statuses.filter(status => status === '503').length).toBeGreaterThan(connections / 2)
      for (const { socket } of askers) socket.destroy()
      // Their memory is free once the server has seen that the callers are gone.
      const list = async () => (await ask('GET', `/tokens?size=${tokens}`, privateKey)).status
      await until(async () => (await list()) === 200)
    },
    300_000,
  )
})
