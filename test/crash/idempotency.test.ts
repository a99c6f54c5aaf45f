/**
 * `kill -9` amid creates under idempotency keys, again and again on one data folder: a client that
 * repeats a create gets the one token of that key, or makes it now, and is never told to wait.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { seededBytes } from '../support/seeded.ts'
import { requestOf } from '../support/vault.ts'

const rounds = 20
const writers = 16
/** The kill comes after at most so many answers, however slow the machine is. */
const answersPerRoundMax = 64
const seed = Number(process.env['SEED'] ?? Math.floor(performance.now() * 1_000))

interface Token {
  readonly id: string
}

/** Keys that were sent, each with the token in its answer, if one came. */
type Sent = Map<string, string | undefined>

interface Target {
  readonly socket: string
  readonly key: string
}

async function create({ socket, key }: Target, name: string) {
  const body = { type: 'token', data: name, metadata: { name } }
  const headers = { 'SVC-IDEMPOTENCY-KEY': name }
  const response = await fetch(requestOf('POST', '/tokens', { key, headers, body }), {
    unix: socket,
  })
  return { status: response.status, id: ((await response.json()) as Token).id }
}

/** Creates until the server is gone. */
async function write(target: Target, sent: Sent, prefix: string): Promise<void> {
  for (let count = 0; ; count += 1) {
    const name = `${prefix}-${count}`
    sent.set(name, undefined)
    const { id } = await create(target, name)
    sent.set(name, id)
  }
}

async function makeFolder(data: string, socket: string): Promise<string> {
  const made = await runCoffer(['init', '--data', data, '--json'])
  const { key: managementKey } = JSON.parse(made.stdout) as { key: string }
  const server = await startCoffer(['serve', '--data', data, '--socket', socket])
  const permissions = ['token:create', 'token:read']
  const body = { name: 'writer', type: 'private', permissions }
  const request = requestOf('POST', '/applications', { key: managementKey, body })
  const { key } = (await (await fetch(request, { unix: socket })).json()) as { key: string }
  expect(await server.end('SIGTERM')).toBe(0)
  return key
}

/** Sends all keys again: each has one token, the acknowledged one if there is one. */
async function askAgain(target: Target, sent: Sent): Promise<string[]> {
  const breaches: string[] = []
  for (const [name, id] of sent) {
    const again = await create(target, name)
    if (again.status !== 201) breaches.push(`${name}: ${again.status}`)
    else if (id !== undefined && again.id !== id) breaches.push(`${name}: another token`)
    const list = requestOf('GET', `/tokens?metadata.name=${name}`, { key: target.key })
    const answer = await fetch(list, { unix: target.socket })
    const { pagination } = (await answer.json()) as { pagination: { total_items: number } }
    if (pagination.total_items !== 1) breaches.push(`${name}: ${pagination.total_items} tokens`)
  }
  return breaches
}

// proves C1.39, E14, S65
test(`one key makes one token over ${rounds} kills under ${writers} writers`, async () => {
  const random = seededBytes(seed)
  const folder = temporaryFolder()
  const data = join(folder, 'data')
  const socket = join(folder, 'vault.sock')
  const target = { socket, key: await makeFolder(data, socket) }
  const start = () => startCoffer(['serve', '--data', data, '--socket', socket])
  let unanswered = 0
  let server = await start()
  for (let round = 0; round < rounds; round += 1) {
    const sent: Sent = new Map()
    const work = Promise.allSettled(
      Array.from({ length: writers }, (_, index) => write(target, sent, `r${round}-w${index}`)),
    )
    const enough = 1 + ((random(1)[0] ?? 0) % answersPerRoundMax)
    const answered = () => [...sent.values()].filter(id => id !== undefined).length
    while (answered() < enough) await Bun.sleep(1)
    await Bun.sleep((random(1)[0] ?? 0) % 4)
    await server.end('SIGKILL')
    await work
    unanswered += sent.size - answered()
    server = await start()
    const breaches = await askAgain(target, sent)
    expect({ seed, round, breaches }).toEqual({ seed, round, breaches: [] })
  }
  expect(await server.end('SIGTERM')).toBe(0)
  expect(unanswered).toBeGreaterThan(rounds)
}, 900_000)
