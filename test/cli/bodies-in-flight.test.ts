/**
 * The memory of a serving process under hundreds of bodies that lack their last byte: it grows by
 * the budget and a constant, of any sender. Source: docs/hostile-inputs.md, E10.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { bodyBytesMax, credentialBodiesBytesMax } from '../../src/limits/limits.ts'
import { startCoffer, type Running } from '../support/coffer-process.ts'
import { openConnection } from '../support/connection.ts'
import { until } from '../support/until.ts'

const connections = 600
/**
 * Memory of a process beside the bodies that it holds: connections, answers, and garbage that is
 * not collected yet, most of it of chunks: 80 to 200 MiB were seen. All the bodies together are 600
 * MiB, and a process that keeps them grows by more than that.
 */
const besidesBytes = 320 * 1024 ** 2

interface Vault {
  readonly running: Running
  readonly port: number
  readonly privateKey: string
  readonly publicKey: string
}

let vault: Vault
beforeAll(async () => {
  const running = await startCoffer(['dev', '--json', '--port', '0'])
  const facts = JSON.parse(running.ready) as Record<string, string>
  vault = {
    running,
    port: Number(new URL(facts['base_url'] ?? '').port),
    privateKey: facts['private_key'] ?? '',
    publicKey: facts['public_key'] ?? '',
  }
})
afterAll(() => vault.running.end('SIGTERM'))

/** The most memory that the process ever had. */
function peakBytes(): number {
  const status = readFileSync(`/proc/${vault.running.pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024
}

const statusLine = /^HTTP\/1\.1 (\d{3})/

/** Caller that sends all but the last byte; `outcome` is a status, or that the connection ended. */
interface Sender {
  readonly socket: Socket
  outcome?: string | undefined
}

function sendAllButOne(head: string, bytes: Buffer): Sender {
  const socket = connect(vault.port, '127.0.0.1', () => {
    socket.write(head)
    socket.write(bytes)
  })
  const sender: Sender = { socket }
  const end = () => (sender.outcome ??= 'ended')
  socket.on('data', data => (sender.outcome ??= statusLine.exec(data.toString('latin1'))?.[1]))
  socket.on('error', end)
  socket.on('close', end)
  return sender
}

const isSettled = ({ outcome }: Sender) => outcome !== undefined

const declared = `Content-Length: ${bodyBytesMax}`
const plain = Buffer.alloc(bodyBytesMax - 1, 0x20)
const chunk = Buffer.concat([
  Buffer.from('10000\r\n'),
  Buffer.alloc(65_536, 0x20),
  Buffer.from('\r\n'),
])
const chunks = Buffer.concat(Array.from({ length: 15 }, () => chunk))

/** Number that fits into its credential's budget and waits; all others must be answered. */
const heldMax = Math.floor(credentialBodiesBytesMax / (15 * 65_536))

async function create(key: string): Promise<number> {
  const client = await openConnection({ hostname: '127.0.0.1', port: vault.port })
  const { status } = await client.ask('POST', '/tokens', { key, body: { type: 'token', data: 1 } })
  client.close()
  return status
}

const attacks: readonly (readonly [string, string, keyof Vault | '', string, Buffer, string])[] = [
  ['of a length that is declared', 'POST /tokens', 'privateKey', declared, plain, '503'],
  ['in chunks', 'POST /tokens', 'privateKey', 'Transfer-Encoding: chunked', chunks, '503'],
  ['without a key', 'POST /tokens', '', declared, plain, '401'],
  ['without the permission', 'GET /tokens', 'publicKey', declared, plain, '403'],
  ['where none is taken', 'DELETE /tokens/a', 'privateKey', declared, plain, '404'],
]

describe(`${connections} bodies without their last byte`, () => {
  // proves C16.4, E10.7, S63
  test.each(attacks)(
    'E10.7: %s, take no more memory than the budget and a constant, and others are served',
    async (_, request, key, framing, bytes, refusal) => {
      const before = peakBytes()
      const keyLine = key === '' ? '' : `SVC-API-KEY: ${String(vault[key])}\r\n`
      const type = 'Content-Type: application/json'
      const head = `${request} HTTP/1.1\r\nHost: a\r\n${keyLine}${type}\r\n${framing}\r\n\r\n`
      const senders = Array.from({ length: connections }, () => sendAllButOne(head, bytes))
      while (senders.filter(isSettled).length < connections - heldMax) await Bun.sleep(20)
      expect(await create(vault.publicKey)).toBe(201)
      expect(peakBytes() - before).toBeLessThan(credentialBodiesBytesMax + besidesBytes)
      expect(senders.map(({ outcome }) => outcome)).toContain(refusal)
      for (const { socket } of senders) socket.destroy()
      // Their memory is free once the server has seen that the callers are gone.
      await until(async () => (await create(vault.privateKey)) === 201)
    },
    300_000,
  )
})
