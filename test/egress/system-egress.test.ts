/**
 * The resolver and the timer of this machine.
 * @module
 */
import { createSocket } from 'node:dgram'
import dns from 'node:dns'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'bun:test'
import { systemEgress } from '../../src/egress/system-egress.ts'
import { deliver, makeTestSend } from '../support/receivers.ts'
import { until } from '../support/until.ts'

test('localhost is resolved by the list of hosts, and refused', async () => {
  const found = await systemEgress.resolve('localhost')
  expect(found.some(address => address === '127.0.0.1' || address === '::1')).toBe(true)
  const send = makeTestSend({ resolve: systemEgress.resolve })
  expect(await deliver('https://localhost/', send)).toEqual({ failure: 'address_refused' })
})

test('a name that nobody has is unresolved', async () => {
  const send = makeTestSend({ resolve: systemEgress.resolve })
  expect(await deliver('https://nobody.invalid/', send)).toEqual({ failure: 'unresolved' })
})

/** The name that a question is about. Source: RFC 1035 section 4.1. */
function nameIn(message: Uint8Array): string {
  const labels: string[] = []
  for (let at = 12, length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(Buffer.from(message.subarray(at + 1, at + 1 + length)).toString())
    at += 1 + length
  }
  return labels.join('.')
}

// A thread of the runtime that waits for a server of names writes no commit meanwhile.
test('questions that are not answered hold no thread, whatever the name', async () => {
  const asked = new Set<string>()
  const server = createSocket('udp4').on('message', message => asked.add(nameIn(message)))
  await new Promise<void>(resolve => server.bind(0, '127.0.0.1', resolve))
  const before = dns.getServers()
  dns.setServers([`127.0.0.1:${server.address().port}`])
  try {
    const names = ['example', 'local', 'localhost'].flatMap(end =>
      Array.from({ length: 16 }, (_, i) => `hooks${i}.${end}`),
    )
    for (const name of names) void systemEgress.resolve(name).catch(() => {})
    await until(() => names.every(name => asked.has(name)))
    expect((await readFile(import.meta.path)).length).toBeGreaterThan(0)
  } finally {
    dns.setServers(before)
    server.close()
  }
})

test('a timer runs out, or is prevented', async () => {
  const ended = Promise.withResolvers<string>()
  systemEgress.startTimer(1, () => ended.resolve('first'))()
  systemEgress.startTimer(2, () => ended.resolve('second'))
  expect(await ended.promise).toBe('second')
})
