/**
 * One request of the vault to an address that somebody gave, against real servers with TLS.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { makeMayReach } from '../../src/egress/public-address.ts'
import type { Sent } from '../../src/egress/send.ts'
import { resolveMsMax, sendMsMax } from '../../src/limits/limits.ts'
import {
  certificates,
  deliver,
  makeTestSend,
  makeTestTimer,
  receiverAddress,
  receiverUrl,
  startCanary,
  startReceiver,
  writeAuthority,
} from '../support/receivers.ts'

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'
const sent = (status: number, retryAfterSeconds?: number): Sent => ({
  status,
  retryAfterSeconds,
  body: expect.anything(),
})

describe('a request', () => {
  test('arrives whole, under the name that was given, with nothing of the runtime', async () => {
    using receiver = await startReceiver(socket => socket.write(ok))
    expect(await deliver(receiverUrl(receiver, '/a/b?key=c'))).toEqual(sent(200))
    expect(receiver.received().split('\r\n').toSorted()).toEqual(
      [
        'POST /a/b?key=c HTTP/1.1',
        `Host: hooks.example:${receiver.port}`,
        'webhook-id: msg_1',
        'User-Agent: Coffer',
        'Accept: */*',
        'Connection: keep-alive',
        'Content-Length: 7',
        '',
        '{"a":1}',
      ].toSorted(),
    )
  })

  test('goes to an address of IPv4 by its certificate', async () => {
    using receiver = await startReceiver(socket => socket.write(ok))
    expect(await deliver(`https://${receiverAddress}:${receiver.port}/`)).toEqual(sent(200))
    expect(receiver.received()).toContain(`Host: ${receiverAddress}:${receiver.port}\r\n`)
  })

  test('uses the connection of the one before', async () => {
    using receiver = await startReceiver(socket => socket.write(ok))
    const send = makeTestSend()
    for (let count = 0; count < 5; count += 1) {
      expect(await deliver(receiverUrl(receiver), send)).toEqual(sent(200))
    }
    expect(receiver.handshakes()).toBe(1)
  })

  test('resolves a name once, and again for the next', async () => {
    using receiver = await startReceiver(socket => socket.write(ok))
    const names: string[] = []
    const send = makeTestSend({
      resolve: async name => {
        names.push(name)
        return [receiverAddress]
      },
    })
    await deliver(receiverUrl(receiver).replace('example:', 'example.:'), send)
    expect(names).toEqual(['hooks.example'])
    await deliver(receiverUrl(receiver), send)
    expect(names).toEqual(['hooks.example', 'hooks.example'])
  })

  test('goes on to the next address while none has taken it', async () => {
    using receiver = await startReceiver(socket => socket.write(ok))
    const send = makeTestSend({
      resolve: async () => ['::1', '127.1.0.2', receiverAddress],
      mayReach: makeMayReach(['127.1.0.0/16', '::1']),
    })
    expect(await deliver(receiverUrl(receiver), send)).toEqual(sent(200))
    expect(receiver.handshakes()).toBe(1)
  })

  test('tries IPv4 before IPv6', async () => {
    using receiver = await startReceiver(socket => socket.write(ok))
    using canary = await startCanary({ port: receiver.port, address: '::1' })
    const send = makeTestSend({
      resolve: async () => ['::1', receiverAddress],
      mayReach: makeMayReach([receiverAddress, '::1']),
    })
    expect(await deliver(receiverUrl(receiver), send)).toEqual(sent(200))
    expect(canary.connections()).toBe(0)
  })

  test('tries four addresses and no more', async () => {
    using receiver = await startReceiver(socket => socket.write(ok))
    const others = [2, 3, 4, 5].map(last => `127.1.0.${last}`)
    const mayReach = makeMayReach(['127.1.0.0/16'])
    const fifth = makeTestSend({ resolve: async () => [...others, receiverAddress], mayReach })
    expect(await deliver(receiverUrl(receiver), fifth)).toEqual({ failure: 'connection' })
    const [, ...three] = others
    const fourth = makeTestSend({ resolve: async () => [...three, receiverAddress], mayReach })
    expect(await deliver(receiverUrl(receiver), fourth)).toEqual(sent(200))
  })

  test('goes to no other address once one has taken it', async () => {
    using receiver = await startReceiver(socket => socket.destroy())
    const send = makeTestSend({
      resolve: async () => [receiverAddress, receiverAddress],
    })
    expect(await deliver(receiverUrl(receiver), send)).toEqual({ failure: 'connection' })
    expect(receiver.handshakes()).toBe(1)
  })

  test.each([
    [204, 'HTTP/1.1 204 No Content\r\n\r\n', undefined],
    [410, 'HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n', undefined],
    [429, 'HTTP/1.1 429 Slow\r\nRetry-After: 17\r\nContent-Length: 0\r\n\r\n', 17],
    [
      503,
      'HTTP/1.1 503 No\r\nretry-after: 5\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n',
      undefined,
    ],
    [200, 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', undefined],
    [500, 'HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n', undefined],
  ])('is answered with %d', async (status, answer, retryAfterSeconds) => {
    using receiver = await startReceiver(socket => socket.write(answer))
    expect(await deliver(receiverUrl(receiver))).toEqual(sent(status, retryAfterSeconds))
  })

  test('takes an answer of 64 KiB, and none longer', async () => {
    const answerOf = (length: number) =>
      `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${'a'.repeat(length)}`
    using fits = await startReceiver(socket => socket.write(answerOf(65_536)))
    expect(await deliver(receiverUrl(fits))).toEqual(sent(200))
    using longer = await startReceiver(socket => socket.write(answerOf(65_537)))
    expect(await deliver(receiverUrl(longer))).toEqual({ failure: 'too_large' })
  })

  test('leaves no timer behind', async () => {
    using receiver = await startReceiver(socket => socket.write(ok))
    const timer = makeTestTimer()
    await deliver(receiverUrl(receiver), makeTestSend({ startTimer: timer.startTimer }))
    expect(timer.running()).toBe(0)
  })
})

describe('a name', () => {
  test('without an address is unresolved', async () => {
    const send = makeTestSend({ resolve: async () => [] })
    expect(await deliver('https://hooks.example/', send)).toEqual({ failure: 'unresolved' })
  })

  test('that its servers do not know is unresolved', async () => {
    const send = makeTestSend({ resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await deliver('https://hooks.example/', send)).toEqual({ failure: 'unresolved' })
  })

  test('that is not found in time is unresolved, and reached by nothing later', async () => {
    using canary = await startCanary()
    const timer = makeTestTimer()
    const found = Promise.withResolvers<readonly string[]>()
    const send = makeTestSend({ resolve: () => found.promise, startTimer: timer.startTimer })
    const sending = deliver(receiverUrl(canary), send)
    timer.runOut(resolveMsMax)
    expect(await sending).toEqual({ failure: 'unresolved' })
    found.resolve(['127.0.0.1'])
    expect([canary.connections(), timer.running()]).toEqual([0, 0])
  })
})

describe('the whole time', () => {
  test.each([
    ['before an answer', ''],
    ['within its head', 'HTTP/1.1 200 OK\r\nX: '],
    ['within its body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi'],
  ])('ends a wait %s', async (_says, answer) => {
    const asked = Promise.withResolvers<void>()
    using receiver = await startReceiver(socket => {
      if (answer !== '') socket.write(answer)
      asked.resolve()
    })
    const timer = makeTestTimer()
    const sending = deliver(receiverUrl(receiver), makeTestSend({ startTimer: timer.startTimer }))
    await asked.promise
    timer.runOut(sendMsMax)
    expect(await sending).toEqual({ failure: 'timeout' })
    await receiver.closed
  })
})

describe('the environment', () => {
  const variables = {
    HTTPS_PROXY: 'http://127.1.0.3:1',
    ALL_PROXY: 'http://127.1.0.3:1',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    BUN_CONFIG_VERBOSE_FETCH: 'curl',
  }

  /** Sends from a process of its own. */
  async function deliverThere(url: string): Promise<readonly [string, string]> {
    const program = resolve(import.meta.dir, '../support/deliver-once.ts')
    const child = Bun.spawn([process.execPath, program, url, receiverAddress, writeAuthority()], {
      env: { ...process.env, ...variables },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
    return [stdout.trim(), stderr.trim()]
  }

  test('sends nothing through a proxy, and prints nothing', async () => {
    using receiver = await startReceiver(socket => socket.write(ok))
    expect(await deliverThere(receiverUrl(receiver))).toEqual([
      expect.stringMatching(/^\{"status":200,/),
      '',
    ])
    expect(receiver.handshakes()).toBe(1)
  })

  test('makes no wrong certificate right', async () => {
    using receiver = await startReceiver(socket => socket.write(ok), certificates.otherName)
    const [printed] = await deliverThere(receiverUrl(receiver))
    expect(printed).toBe('{"failure":"tls"}')
    expect(receiver.received()).toBe('')
  })
})

test('the authorities of the runtime are trusted where none are given', async () => {
  using receiver = await startReceiver(socket => socket.write(ok))
  const send = makeTestSend({ authorities: undefined })
  expect(await deliver(receiverUrl(receiver), send)).toEqual({ failure: 'tls' })
  expect(receiver.received()).toBe('')
})
