/**
 * Endpoints whose owner wants the vault to speak to somebody else, to hang, or to take too much:
 * each ends with the failure that is named, and nothing arrives where it must not.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { createServer, type AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { TlsOptions, TLSSocket } from 'node:tls'
import type { SendFailure } from '../../src/egress/send-failure.ts'
import { makeMayReach } from '../../src/egress/public-address.ts'
import { sendMsMax } from '../../src/limits/limits.ts'
import {
  certificates,
  deliver,
  makeTestSend,
  makeTestTimer,
  receiverAddress,
  receiverName,
  receiverUrl,
  startCanary,
  startReceiver,
} from '../support/receivers.ts'

/** Hosts that lead to this machine, `PORT` being that of the canary. */
const disguises = [
  ['loopback', '127.0.0.1', 'address_refused'],
  ['another address of loopback', '127.8.8.8', 'address_refused'],
  ['loopback in decimal', '2130706433', 'address_refused'],
  ['loopback in hexadecimal', '0x7f000001', 'address_refused'],
  ['loopback in octal', '0177.0.0.1', 'address_refused'],
  ['loopback in two parts', '127.1', 'address_refused'],
  ['loopback with a dot behind', '127.0.0.1.', 'address_refused'],
  ['loopback percent-encoded', '%31%32%37.0.0.1', 'malformed'],
  ['loopback in full-width digits', '１２７.0.0.1', 'malformed'],
  ['this machine', '0.0.0.0', 'address_refused'],
  ['zero', '0', 'address_refused'],
  ['loopback of IPv6', '[::1]', 'address_refused'],
  ['loopback of IPv6 in full', '[0:0:0:0:0:0:0:1]', 'address_refused'],
  ['any address of IPv6', '[::]', 'address_refused'],
  ['loopback mapped', '[::ffff:7f00:1]', 'address_refused'],
  ['loopback mapped, with dots', '[::ffff:127.0.0.1]', 'address_refused'],
  ['a user name that looks like a host', 'hooks.example@127.0.0.1', 'malformed'],
  ['a backslash', 'hooks.example\\@127.0.0.1', 'malformed'],
] as const

describe('a host in disguise gets no connection', () => {
  // proves S96
  test.each(disguises)('%s', async (_says, host, failure) => {
    using canary = await startCanary()
    expect(await deliver(`https://${host}:${canary.port}/`)).toEqual({ failure })
    expect(canary.connections()).toBe(0)
  })

  // The guard is all that prevents it: a client without one reaches the canary by most of these.
  test('control: without the guard they are reached', async () => {
    using canary = await startCanary()
    for (const [, host] of disguises.filter(([, host]) => !host.includes('\\'))) {
      const before = canary.connections()
      await fetch(`https://${host}:${canary.port}/`, { proxy: false }).catch(() => {})
      expect([host, canary.connections() > before]).toEqual([host, true])
    }
  })
})

const names = [
  ['leads to loopback, as a CNAME to localhost does', ['127.0.0.1']],
  ['leads to loopback of IPv6', ['::1']],
  ['leads to loopback in mapped form', ['::ffff:127.0.0.1']],
  ['leads to this machine', ['0.0.0.0']],
  ['leads to loopback translated', ['64:ff9b::7f00:1']],
  ['leads to the metadata of a cloud', ['169.254.169.254']],
  ['leads to the metadata of a cloud by IPv6', ['fd00:ec2::254']],
  ['leads to a private network', ['10.0.0.1']],
  ['has a public address and then a private one', [receiverAddress, '127.0.0.1']],
  ['has a private address and then a public one', ['127.0.0.1', receiverAddress]],
  ['has a private address after many', [...Array<string>(9).fill(receiverAddress), '::1']],
  ['has what is no address', [receiverAddress, 'localhost']],
] as const

describe('a name gets no connection that', () => {
  // proves S96
  test.each(names)('%s', async (_says, addresses) => {
    using canary = await startCanary()
    const send = makeTestSend({ resolve: async () => addresses })
    expect(await deliver(receiverUrl(canary), send)).toEqual({ failure: 'address_refused' })
    expect(canary.connections()).toBe(0)
  })

  test('is localhost, also with a dot behind', async () => {
    using canary = await startCanary()
    const send = makeTestSend({ resolve: async () => ['127.0.0.1', '::1'] })
    for (const host of ['localhost', 'localhost.', 'LocalHost']) {
      const sent = await deliver(`https://${host}:${canary.port}/`, send)
      expect(sent).toEqual({ failure: 'address_refused' })
    }
    expect(canary.connections()).toBe(0)
  })

  test('changes between two look-ups', async () => {
    const answers = [[receiverAddress], ['127.0.0.1']]
    let asked = 0
    const send = makeTestSend({ resolve: async () => answers[asked++] ?? [] })
    using canary = await startCanary()
    using receiver = await startReceiver(socket =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
    )
    expect(await deliver(receiverUrl(receiver), send)).toMatchObject({ status: 200 })
    expect(asked).toBe(1)
    expect(await deliver(receiverUrl(canary), send)).toEqual({ failure: 'address_refused' })
    // Nor does a connection that is still open carry it.
    expect(await deliver(receiverUrl(receiver), send)).toEqual({ failure: 'unresolved' })
    expect([receiver.received().match(/POST/g)?.length, canary.connections()]).toEqual([1, 0])
  })

  test('control: without the guard they are reached', async () => {
    using canary = await startCanary()
    const here = names.filter(([, [first]]) => /^(?:127|::1|0\.|::ffff)/.test(first ?? ''))
    for (const [says, addresses] of here) {
      const before = canary.connections()
      const send = makeTestSend({ resolve: async () => addresses, mayReach: () => true })
      await deliver(receiverUrl(canary), send)
      expect([says, canary.connections() > before]).toEqual([says, true])
    }
  })
})

describe('a server gets no byte of a request whose', () => {
  const oldVersion: TlsOptions = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }
  // proves S96
  test.each([
    ['certificate is of another name', certificates.otherName, {}],
    ['certificate has expired', certificates.expired, {}],
    ['certificate is self-signed', certificates.selfSigned, {}],
    ['certificate is of an unknown authority', certificates.otherAuthority, {}],
    ['TLS is 1.1', certificates.right, oldVersion],
  ] as const)('%s', async (_says, files, options) => {
    using receiver = await startReceiver(socket => socket.end(), files, options)
    expect(await deliver(receiverUrl(receiver))).toEqual({ failure: 'tls' })
    expect(receiver.received()).toBe('')
  })

  test('certificate is of another name, while a connection of the right name is open', async () => {
    using receiver = await startReceiver(socket =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
    )
    const send = makeTestSend()
    expect(await deliver(receiverUrl(receiver), send)).toMatchObject({ status: 200 })
    const other = receiverUrl(receiver).replace(receiverName, 'other.example')
    expect(await deliver(other, send)).toEqual({ failure: 'tls' })
    expect(receiver.received().match(/POST/g)).toHaveLength(1)
  })

  test('answer is plain text', async () => {
    const server = createServer(socket => {
      socket.on('error', () => {})
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    await new Promise<void>(resolve => server.listen(0, receiverAddress, resolve))
    const { port } = server.address() as AddressInfo
    expect(await deliver(receiverUrl({ port }))).toEqual({ failure: 'tls' })
    server.close()
  })
})

/** Writes on and on, in turns: the other side is in this process, and reads as fast. */
function pour(socket: TLSSocket, piece: string): void {
  if (socket.destroyed) return
  if (socket.write(piece)) setImmediate(() => pour(socket, piece))
  else socket.once('drain', () => pour(socket, piece))
}

const bomb = gzipSync(Buffer.alloc(30_000_000))
const ok = 'HTTP/1.1 200 OK\r\n'

describe('an answer is refused', () => {
  test.each<readonly [string, SendFailure, (socket: TLSSocket) => void]>([
    [
      'of endless headers',
      'malformed',
      socket => {
        socket.write(ok)
        pour(socket, 'X: y\r\n')
      },
    ],
    ['of an endless header', 'too_large', socket => pour(socket, `${ok}X: ${'a'.repeat(65_536)}`)],
    ['of an endless body', 'too_large', socket => pour(socket, `${ok}\r\n${'a'.repeat(65_536)}`)],
    [
      'of endless chunks',
      'too_large',
      socket => {
        socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\n`)
        pour(socket, `400\r\n${'a'.repeat(1_024)}\r\n`)
      },
    ],
    [
      'that says it is long',
      'too_large',
      socket => socket.write(`${ok}Content-Length: 1000000000000\r\n\r\nhi`),
    ],
    [
      'whose length is too short for what it says',
      'connection',
      socket => socket.end(`${ok}Content-Length: 10\r\n\r\nhi`),
    ],
    [
      'with two lengths',
      'malformed',
      socket => socket.end(`${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nhi`),
    ],
    [
      'with a negative length',
      'malformed',
      socket => socket.end(`${ok}Content-Length: -1\r\n\r\nhi`),
    ],
    [
      'with a broken chunk',
      'malformed',
      socket => socket.end(`${ok}Transfer-Encoding: chunked\r\n\r\nzz\r\nhi`),
    ],
    ['of HTTP/0.9', 'connection', socket => socket.end('hello')],
    ['of HTTP/2', 'malformed', socket => socket.end('HTTP/2.0 200 OK\r\n\r\n')],
    [
      'that upgrades',
      'malformed',
      socket =>
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n',
        ),
    ],
    ['that is none', 'connection', socket => socket.end()],
    ['with a zero byte', 'malformed', socket => socket.end(`${ok}X: a\0b\r\n\r\n`)],
  ])('%s', async (_says, failure, answer) => {
    using receiver = await startReceiver(answer)
    expect(await deliver(receiverUrl(receiver))).toEqual({ failure })
    await receiver.closed
  })

  test.each<readonly [string, (socket: TLSSocket, go: () => void) => void]>([
    [
      'that drips',
      (socket, go) => {
        socket.write(`${ok}Content-Length: 60000\r\n\r\n`)
        const timer = setInterval(() => socket.write('a'), 1)
        socket.on('close', () => clearInterval(timer))
        go()
      },
    ],
    [
      'that is always about to come',
      (socket, go) => {
        pour(socket, 'HTTP/1.1 100 Continue\r\n\r\n')
        go()
      },
    ],
    ['that never comes', (_socket, go) => go()],
  ])('%s, when the whole time is over', async (_says, answer) => {
    const asked = Promise.withResolvers<void>()
    using receiver = await startReceiver(socket => answer(socket, asked.resolve))
    const timer = makeTestTimer()
    const sending = deliver(receiverUrl(receiver), makeTestSend({ startTimer: timer.startTimer }))
    await asked.promise
    timer.runOut(sendMsMax)
    expect(await sending).toEqual({ failure: 'timeout' })
    await receiver.closed
  })
})

describe('an answer is taken as it is', () => {
  // proves S96
  test('a redirect to the metadata of a cloud is not followed', async () => {
    using canary = await startCanary()
    using receiver = await startReceiver(socket =>
      socket.write(
        `HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:${canary.port}/\r\n` +
          'Content-Length: 0\r\n\r\n',
      ),
    )
    expect(await deliver(receiverUrl(receiver))).toMatchObject({ status: 302 })
    expect(canary.connections()).toBe(0)
  })

  test.each([301, 303, 307, 308])('a redirect %d to itself is asked once', async status => {
    using receiver = await startReceiver(socket =>
      socket.write(`HTTP/1.1 ${status} Loop\r\nLocation: /\r\nContent-Length: 0\r\n\r\n`),
    )
    expect(await deliver(receiverUrl(receiver))).toMatchObject({ status })
    expect(receiver.received().match(/POST/g)).toHaveLength(1)
  })

  test('a small body that would unfold to a large one stays folded', async () => {
    using receiver = await startReceiver(socket => {
      socket.write(`${ok}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
      socket.write(bomb)
    })
    expect(bomb.length).toBeLessThan(65_536)
    expect(await deliver(receiverUrl(receiver))).toMatchObject({ status: 200 })
  })

  test('bytes after an answer are of no other answer', async () => {
    using receiver = await startReceiver(socket =>
      socket.write(`${ok}Content-Length: 0\r\n\r\nHTTP/1.1 204 Forged\r\n\r\n`),
    )
    const send = makeTestSend()
    expect(await deliver(receiverUrl(receiver), send)).toMatchObject({ status: 200 })
    expect(await deliver(receiverUrl(receiver), send)).toMatchObject({ status: 200 })
    expect(receiver.handshakes()).toBe(2)
  })

  test('a cookie is not given back', async () => {
    using receiver = await startReceiver(socket =>
      socket.write(`${ok}Set-Cookie: a=b\r\nContent-Length: 0\r\n\r\n`),
    )
    const send = makeTestSend()
    await deliver(receiverUrl(receiver), send)
    await deliver(receiverUrl(receiver), send)
    expect(receiver.received()).not.toContain('a=b')
  })
})

test('the receiver of these tests is reached only because the operator allows it', async () => {
  using receiver = await startReceiver(socket => socket.write(`${ok}Content-Length: 0\r\n\r\n`))
  const send = makeTestSend({ mayReach: makeMayReach([]) })
  expect(await deliver(receiverUrl(receiver), send)).toEqual({ failure: 'address_refused' })
  expect(receiver.handshakes()).toBe(0)
})
