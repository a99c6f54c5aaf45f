/**
 * Receivers of what a vault sends: servers with TLS on a loopback address that a test allows, and a
 * canary on all others, which nothing may reach.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer as listenPlain, type AddressInfo, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer, type TlsOptions, type TLSSocket } from 'node:tls'
import { parseDestination } from '../../src/egress/destination.ts'
import { makeMayReach } from '../../src/egress/public-address.ts'
import { makeSend, type EgressDeps, type Send, type Sent } from '../../src/egress/send.ts'
import {
  expiredFor,
  selfSigned,
  selfSignedFor,
  signedBy,
  type CertificateFiles,
} from './certificates.ts'
import { temporaryFolder } from './folders.ts'

/** In 127.0.0.0/8, where nothing else listens. */
export const receiverAddress = '127.1.0.1'
export const receiverName = 'hooks.example'

const folder = temporaryFolder()
const signer = selfSigned(folder, 'authority')
const named = (by: CertificateFiles, name: string, names: string): CertificateFiles =>
  signedBy(by, folder, name, '-addext', `subjectAltName=${names}`)

/** In PEM. */
interface Certificate {
  readonly cert: string
  readonly key: string
}

/** Their folder may be gone before this module is: several test files share it. */
const read = ({ cert, key }: CertificateFiles): Certificate => ({
  cert: readFileSync(cert, 'utf8'),
  key: readFileSync(key, 'utf8'),
})

/** In PEM. */
export const authority = read(signer).cert

/** @returns a file with the certificate of the authority, for a process of its own */
export function writeAuthority(): string {
  const file = join(temporaryFolder(), 'authority.pem')
  writeFileSync(file, authority)
  return file
}

export const certificates = {
  right: read(named(signer, 'right', `DNS:${receiverName},IP:${receiverAddress}`)),
  otherName: read(named(signer, 'other', 'DNS:other.example')),
  otherAuthority: read(named(selfSigned(folder, 'stranger'), 'strange', `DNS:${receiverName}`)),
  expired: read(expiredFor(signer, folder, receiverName)),
  selfSigned: read(selfSignedFor(folder, receiverName)),
}

const listenOn = (server: Server, address: string, port = 0): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => resolve((server.address() as AddressInfo).port))
  })

export interface Receiver {
  readonly port: number
  /** Decrypted bytes of all connections. */
  readonly received: () => string
  readonly handshakes: () => number
  /** Resolves when the other side has closed a connection. */
  readonly closed: Promise<void>
  readonly [Symbol.dispose]: () => void
}

/** @param answer called once for each request of a connection, when its head has come */
export async function startReceiver(
  answer: (socket: TLSSocket) => void,
  { cert, key }: Certificate = certificates.right,
  more: TlsOptions = {},
): Promise<Receiver> {
  const sockets = new Set<TLSSocket>()
  const closing = Promise.withResolvers<void>()
  let received = ''
  let handshakes = 0
  const options = { cert, key, ...more }
  const server = createServer(options, socket => {
    handshakes += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => closing.resolve())
    socket.on('data', chunk => {
      received += chunk.toString('latin1')
      if (chunk.includes('\r\n\r\n')) answer(socket)
    })
  })
  server.on('tlsClientError', () => {})
  const port = await listenOn(server, receiverAddress)
  const end = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  const seen = { received: () => received, handshakes: () => handshakes }
  return { port, ...seen, closed: closing.promise, [Symbol.dispose]: end }
}

export interface Canary {
  readonly port: number
  readonly connections: () => number
  readonly [Symbol.dispose]: () => void
}

/** Closes what comes. By default on every address of the machine, IPv4 and IPv6. */
export async function startCanary({ address = '::', port = 0 } = {}): Promise<Canary> {
  let connections = 0
  const server = listenPlain((socket: Socket) => {
    connections += 1
    socket.on('error', () => {})
    socket.destroy()
  })
  const listening = await listenOn(server, address, port)
  return { port: listening, connections: () => connections, [Symbol.dispose]: () => server.close() }
}

/** A timer that runs out when the test says so. */
export interface TestTimer {
  readonly startTimer: EgressDeps['startTimer']
  /** Ends all that run, of that length. */
  readonly runOut: (ms: number) => void
  readonly running: () => number
}

export function makeTestTimer(): TestTimer {
  const running = new Map<() => void, number>()
  return {
    startTimer(ms, end) {
      running.set(end, ms)
      return () => running.delete(end)
    },
    runOut(wanted) {
      for (const [end, ms] of running) if (ms === wanted) end()
    },
    running: () => running.size,
  }
}

/**
 * Sends as a vault does whose operator allows the receivers' address. Names lead there, and no time
 * runs out.
 */
export const makeTestSend = (more: Partial<EgressDeps> = {}): Send =>
  makeSend({
    resolve: async () => [receiverAddress],
    mayReach: makeMayReach([receiverAddress]),
    now: () => 0,
    startTimer: makeTestTimer().startTimer,
    authorities: authority,
    ...more,
  })

export const receiverUrl = ({ port }: { readonly port: number }, path = '/'): string =>
  `https://${receiverName}:${port}${path}`

/** Does what a delivery does with the text of an endpoint's address. */
export async function deliver(url: string, send: Send = makeTestSend()): Promise<Sent> {
  const destination = parseDestination(url)
  if ('failure' in destination) return { failure: destination.failure }
  return send({ destination, headers: { 'webhook-id': 'msg_1' }, body: Buffer.from('{"a":1}') })
}
