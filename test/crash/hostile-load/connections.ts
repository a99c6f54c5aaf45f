/**
 * Many connections at once, including to a process that may open few files.
 *
 * Source: hardening H25, H168.
 * @module
 */
import { connect, type Socket } from 'node:net'
import type { Size } from '../part.ts'
import {
  checkRefusal,
  checkUnharmed,
  portOf,
  startServer,
  stopServer,
  type Ground,
} from './ground.ts'

const sockets: Readonly<Record<Size, number>> = { full: 5_000, short: 1_500 }
/** Time that all connections are held once all were tried: a server ends idle ones after 10 s. */
const holdMs = 300
/** Limits on open files. */
const limits: Readonly<Record<Size, readonly number[]>> = { full: [1_024, 64], short: [64] }
const openMsMax = 20_000
/** Without room on the machine, a connect is retried for minutes; the test gives up sooner. */
const connectMsMax = 1_500

interface Held {
  readonly socket: Socket
  isOpen: boolean
  text: string
}

/** @returns the connection, once it is open or refused */
function hold(port: number): Promise<Held> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    const held: Held = { socket, isOpen: false, text: '' }
    socket.on('data', chunk => (held.text += chunk.toString('latin1')))
    socket.on('connect', () => {
      held.isOpen = true
      resolve(held)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      held.isOpen = false
      resolve(held)
    })
    setTimeout(() => resolve(held), connectMsMax)
  })
}

const question = 'GET /applications/key HTTP/1.1\r\nhost: vault\r\n\r\n'

/** Asks over every connection, and waits until each is answered or time is up. */
async function askAll(all: readonly Held[]): Promise<number> {
  for (const { socket, isOpen } of all) if (isOpen) socket.write(question)
  const endMs = performance.now() + openMsMax
  const answered = (): number => all.filter(({ text }) => text.startsWith('HTTP/1.1 401')).length
  for (let before = -1; performance.now() < endMs;) {
    const now = answered()
    if (now === all.length || now === before) return now
    before = now
    await Bun.sleep(holdMs)
  }
  return answered()
}

/** @param limit on open files; without one every connection must be answered */
async function openMany(ground: Ground, limit: number | undefined): Promise<void> {
  const name = limit === undefined ? 'H25' : `H25, H168 with ${limit} open files`
  const count = sockets[ground.size]
  const port = portOf(ground)
  const all = await Promise.all(Array.from({ length: count }, () => hold(port)))
  const answered = await askAll(all)
  if (limit === undefined) {
    if (answered !== count) ground.failures.push(`${name}: ${answered} of ${count} were answered`)
    await checkUnharmed(ground, `${name} while they are held`)
  }
  for (const { text } of all) checkRefusal(ground, name, text)
  ground.figures[`${name}: connections · answered`] = `${count} · ${answered}`
  for (const { socket } of all) socket.destroy()
  await Bun.sleep(holdMs)
  await checkUnharmed(ground, name)
}

/** Cases with a server as it is, then with one that may open few files. */
export async function openConnections(ground: Ground): Promise<void> {
  await openMany(ground, undefined)
  await stopServer(ground)
  for (const limit of limits[ground.size]) {
    await startServer(ground, ['sh', '-c', `ulimit -n ${limit}; exec "$@"`, 'sh'])
    await openMany(ground, limit)
    await stopServer(ground)
  }
  await startServer(ground)
}
