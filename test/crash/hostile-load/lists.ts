/**
 * Lists among a thousand writers, and lists whose readers disconnect: no page shows a token twice,
 * and no slot of the engine's reader table stays taken.
 *
 * Source: hardening H78, H80, finding 7.
 * @module
 */
import { connect } from 'node:net'
import { openProbe } from '../../../scripts/soak/samples.ts'
import type { Connection } from '../../support/connection.ts'
import type { Size } from '../part.ts'
import { checkUnharmed, connectTo, pidOf, portOf, storeOf, type Ground } from './ground.ts'

const writers = 1_000
const rounds: Readonly<Record<Size, number>> = { full: 10, short: 2 }
const listers = 4
const slotsMax = 10
const aborts: Readonly<Record<Size, number>> = { full: 1_000, short: 400 }
const abortsAtATime = 20
const largeChars: Readonly<Record<Size, number>> = { full: 20_000, short: 2_000 }
const pageSize = 100

async function write(ground: Ground, connection: Connection, name: string): Promise<void> {
  const key = ground.keys.private
  for (let round = 0; round < rounds[ground.size]; round += 1) {
    const id = `written-${name}-${round}`
    const body = { id, type: 'token', data: round }
    const made = await connection.ask('POST', '/tokens', { key, body })
    const gone = await connection.ask('DELETE', `/tokens/${id}`, { key })
    if (made.status === 201 && gone.status === 204) continue
    ground.failures.push(`H78: a writer was answered ${made.status} and ${gone.status}`)
  }
}

/** @returns the number of pages it read */
async function list(ground: Ground, isOver: () => boolean): Promise<number> {
  const connection = await connectTo(ground)
  let pages = 0
  for (; !isOver(); pages += 1) {
    const path = `/tokens?size=${pageSize}&page=${1 + (pages % 10)}`
    const { status, text } = await connection.ask('GET', path, { key: ground.keys.private })
    const { data } = JSON.parse(text) as { readonly data: readonly { readonly id: string }[] }
    const isOnce = new Set(data.map(({ id }) => id)).size === data.length
    if (status !== 200 || !isOnce) ground.failures.push(`H78: a list of ${status}, once: ${isOnce}`)
  }
  connection.close()
  return pages
}

/** H78. @returns the most slots that the server ever took */
export async function listAmongWriters(ground: Ground): Promise<void> {
  const probe = openProbe(pidOf(ground), storeOf(ground))
  const connections = await Promise.all(Array.from({ length: writers }, () => connectTo(ground)))
  let [isOver, slots] = [false, 0]
  const sample = async (): Promise<void> => {
    for (; !isOver; await Bun.sleep(20)) slots = Math.max(slots, probe.read()['reader slots'])
  }
  const writing = connections.map((connection, index) => write(ground, connection, String(index)))
  const listing = Array.from({ length: listers }, () => list(ground, () => isOver))
  const sampling = sample()
  await Promise.all(writing)
  isOver = true
  const pages = (await Promise.all(listing)).reduce((sum, own) => sum + own, 0)
  await sampling
  await probe.close()
  for (const connection of connections) connection.close()
  if (slots >= slotsMax) ground.failures.push(`H78: ${slots} reader slots`)
  const written = writers * rounds[ground.size]
  ground.figures['H78: writers · created and deleted · pages'] =
    `${writers} · ${written} · ${pages}`
  ground.figures['H78: reader slots at most'] = slots
  await checkUnharmed(ground, 'H78')
}

/** Asks for a page and disconnects at its first bytes. @returns true if any came */
function leaveAtFirstByte(ground: Ground): Promise<boolean> {
  const head = `GET /tokens?size=${pageSize} HTTP/1.1\r\nhost: vault\r\n`
  return new Promise(resolve => {
    let hasCome = false
    const socket = connect(portOf(ground), '127.0.0.1', () =>
      socket.write(`${head}svc-api-key: ${ground.keys.private}\r\n\r\n`),
    )
    socket.on('data', () => {
      hasCome = true
      socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(hasCome))
  })
}

async function createLarge(ground: Ground): Promise<void> {
  const connection = await connectTo(ground)
  const key = ground.keys.private
  for (let index = 0; index < pageSize; index += 1) {
    const body = { id: `large-${index}`, type: 'token', data: 'x'.repeat(largeChars[ground.size]) }
    await connection.ask('POST', '/tokens', { key, body })
  }
  connection.close()
}

/** H80: readers disconnect while they read large lists. */
export async function leaveLists(ground: Ground): Promise<void> {
  await createLarge(ground)
  const probe = openProbe(pidOf(ground), storeOf(ground))
  const before = probe.read()
  let left = 0
  for (let count = 0; count < aborts[ground.size]; count += abortsAtATime) {
    const leaving = Array.from({ length: abortsAtATime }, () => leaveAtFirstByte(ground))
    left += (await Promise.all(leaving)).filter(hasCome => hasCome).length
  }
  await checkUnharmed(ground, 'H80')
  const after = probe.read()
  await probe.close()
  const slots = after['reader slots']
  if (left !== aborts[ground.size])
    ground.failures.push(`H80: only ${left} of ${aborts[ground.size]} saw a first byte`)
  if (slots > before['reader slots']) ground.failures.push(`H80: ${slots} reader slots stay`)
  ground.figures['H80: lists left at the first byte'] = left
  ground.figures['H80: reader slots before · after'] = `${before['reader slots']} · ${slots}`
}
