/**
 * Bodies under way that do not end: the room that they may take of a listening server, and the
 * service that others still get. Contract sections 1, 2 and 16; docs/hostile-inputs.md, E10.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { shortBodyBytesMax } from '../../src/limits/limits.ts'
import { canary } from '../support/refusal.ts'
import { until } from '../support/until.ts'
import { expectUnharmed, openWire, parseAnswers, requestText, type Wire } from '../support/wire.ts'

const bodyBytes = 100_000

let wire: Wire
let otherKey: string
beforeAll(async () => {
  wire = await openWire(161, {
    bodyBytesMax: bodyBytes,
    bodiesBytesMax: 5 * bodyBytes,
    credentialBodiesBytesMax: 3 * bodyBytes,
  })
  otherKey = await wire.vault.application({ type: 'private', permissions: ['token:create'] })
})
afterAll(() => wire.close())

const json = (key: string) => ({ 'SVC-API-KEY': key, 'Content-Type': 'application/json' })

/** The beginning of a create whose body never gets its last byte. */
const unended = (key: string, more: Readonly<Record<string, string>> = {}) =>
  requestText('POST', '/tokens', { ...json(key), ...more, 'Content-Length': String(bodyBytes) }) +
  ' '.repeat(bodyBytes - 1)

interface Sender {
  readonly socket: Socket
  /** The status of its answer, when there is one. */
  readonly answered: Promise<number>
}

function begin(text: string): Sender {
  const socket = connect(wire.port, '127.0.0.1', () => socket.write(text))
  let received = ''
  const answered = new Promise<number>(resolve => {
    socket.on('data', data => {
      received += data.toString('latin1')
      const [answer] = parseAnswers(received)
      if (answer !== undefined) resolve(answer.status)
    })
    socket.on('error', () => {})
  })
  return { socket, answered }
}

const create = async (key: string, data: string) => {
  const body = JSON.stringify({ type: 'token', data })
  const { answers } = await wire.send(requestText('POST', '/tokens', json(key), body))
  return answers[0]?.status
}

const createShort = (key: string) => create(key, 'a')

const createLong = (key: string) => create(key, 'a'.repeat(shortBodyBytesMax))

/** Asks until the wanted answer comes, since the end of a request takes a moment. */
const untilAnswered = (status: number, ask: () => Promise<number | undefined>): Promise<void> =>
  until(async () => (await ask()) === status)

/** Begins as many as there is room for. */
async function fill(key: string): Promise<Sender[]> {
  const senders = Array.from({ length: 3 }, () => begin(unended(key)))
  await untilAnswered(503, () => createLong(key))
  return senders
}

function end(senders: readonly Sender[]): void {
  for (const { socket } of senders) socket.destroy()
}

describe('bodies of one credential that do not end', () => {
  // proves C2.22, E10.1
  test('E10.1: leave 503 for its next, before that is read, and others all they need', async () => {
    const senders = await fill(wire.key)
    // No byte of this body was sent.
    const lines = { ...json(wire.key), 'Content-Length': String(bodyBytes) }
    const refused = await wire.send(requestText('POST', '/tokens', lines))
    expect(refused.answers.map(({ status }) => status)).toEqual([503])
    expect(refused.answers[0]?.headers.get('retry-after')).toBe('1')
    expect(refused.answers[0]?.headers.get('connection')).toBe('close')
    expect(refused.isClosed).toBe(true)
    expect(JSON.parse(refused.answers[0]?.body ?? '')).toMatchObject({ status: 503 })
    expect(await createLong(otherKey)).toBe(201)
    // Another caller with the same key is not shut out by it.
    expect(await createShort(wire.key)).toBe(201)
    const read = await wire.send(requestText('GET', '/tokens', json(wire.key)))
    expect(read.answers[0]?.status).toBe(200)
    end(senders)
    await untilAnswered(201, () => createLong(wire.key))
    await expectUnharmed(wire, refused)
  })

  // proves E10.2
  test('E10.2: are taken when they end after all, and leave room again', async () => {
    const senders = await fill(wire.key)
    const [first] = senders
    first?.socket.write('x')
    expect(await first?.answered).toBe(400)
    expect(await createLong(wire.key)).toBe(201)
    end(senders)
    await untilAnswered(201, () => createLong(wire.key))
  })

  // proves E10.3
  test('E10.3: count in chunks as they come, and one too many ends its connection', async () => {
    const head = requestText('POST', '/tokens', {
      ...json(wire.key),
      'Transfer-Encoding': 'chunked',
    })
    const half = `${(bodyBytes / 2).toString(16)}\r\n${' '.repeat(bodyBytes / 2)}\r\n`
    const senders = Array.from({ length: 6 }, () => begin(head + half))
    await untilAnswered(503, () => createLong(wire.key))
    const refused = await wire.send([head, half])
    expect([refused.answers[0]?.status, refused.isClosed]).toEqual([503, true])
    expect(await createLong(otherKey)).toBe(201)
    end(senders)
    await untilAnswered(201, () => createLong(wire.key))
  })

  // proves E10.4
  test('E10.4: count once under an idempotency key, also where they are part of it', async () => {
    const publicKey = await wire.vault.application({
      type: 'public',
      permissions: ['token:create'],
    })
    const padded = `{"type":"token","data":1}${' '.repeat(bodyBytes - 25)}`
    for (const key of ['one', 'two', 'one']) {
      const headers = { ...json(publicKey), 'SVC-IDEMPOTENCY-KEY': key }
      const { answers } = await wire.send(requestText('POST', '/tokens', headers, padded))
      expect(answers[0]?.status).toBe(201)
    }
  })
})

describe('bodies that were promised, and of which little comes,', () => {
  const promises: readonly (readonly [string, number, number])[] = [
    ['nothing of long ones', bodyBytes, 0],
    ['no more of long ones than short ones may have', bodyBytes, shortBodyBytesMax],
    ['all of short ones but a byte', shortBodyBytesMax, shortBodyBytesMax - 1],
  ]

  // proves E10.13
  test.each(promises)('E10.13: %s, take no room', async (_, length, sent) => {
    const lines = { ...json(wire.key), 'Content-Length': String(length) }
    const text = requestText('POST', '/tokens', lines) + ' '.repeat(sent)
    const senders = Array.from({ length: 60 }, () => begin(text))
    await Bun.sleep(200)
    expect(await createLong(wire.key)).toBe(201)
    expect(await createShort(wire.key)).toBe(201)
    end(senders)
  })
})

// proves C2.22, E10.5, S63
test('E10.5: bodies of all credentials together are bounded, however many send them', async () => {
  const third = await wire.vault.application({ type: 'private', permissions: ['token:create'] })
  const senders = [...(await fill(wire.key)), begin(unended(otherKey)), begin(unended(otherKey))]
  await untilAnswered(503, () => createLong(third))
  const read = await wire.send(requestText('GET', '/tokens', json(wire.key)))
  expect(read.answers[0]?.status).toBe(200)
  end(senders)
  await untilAnswered(201, () => createLong(third))
})

describe('a long body that nobody reads ends its connection with the answer,', () => {
  const refusals: readonly (readonly [string, () => string, number])[] = [
    ['without a key', () => unended('none'), 401],
    ['of another type', () => unended(wire.key, { 'Content-Type': 'text/plain' }), 415],
    ['coded', () => unended(wire.key, { 'Content-Encoding': 'gzip' }), 415],
    [
      'without the permission',
      () => unended(otherKey).replace('POST /tokens ', 'POST /tokens/search '),
      403,
    ],
    ['at no address', () => unended(wire.key).replace('/tokens', '/absent'), 404],
    ['by a wrong method', () => unended(wire.key).replace('POST', 'DELETE'), 405],
    [
      'where none is taken',
      () => unended(otherKey).replace('POST /tokens', 'DELETE /tokens/a'),
      403,
    ],
  ]

  // proves E10.6
  test.each(refusals)('E10.6: %s', async (_, text, status) => {
    const received = await wire.send(text())
    expect(received.answers.map(answer => answer.status)).toEqual([status])
    expect([received.answers[0]?.headers.get('connection'), received.isClosed]).toEqual([
      'close',
      true,
    ])
    await expectUnharmed(wire, received)
  })

  test('and a short one does not', async () => {
    const wrong = requestText('POST', '/tokens', json('none'), `"${canary}"`)
    const received = await wire.send([wrong, wrong], 2)
    expect(received.answers.map(({ status }) => status)).toEqual([401, 401])
    expect(received.isClosed).toBe(false)
  })

  test('nor does a short one of an operation that takes none', async () => {
    const managed = json(wire.vault.managementKey)
    const { body } = await wire.vault.ask('GET', '/applications/key', { key: otherKey })
    const path = `/applications/${String(body['id'])}/regenerate`
    const text = requestText('POST', path, managed, '{"a":1}')
    const received = await wire.send(text)
    expect(received.answers[0]?.status).toBe(200)
    otherKey = String(JSON.parse(received.answers[0]?.body ?? '')['key'])
    expect(received.answers[0]?.headers.get('connection')).not.toBe('close')
  })
})

describe('a body in small chunks', () => {
  const inChunks = (length: number, size: number): Buffer => {
    const text = JSON.stringify({ type: 'token', data: 1 }).padEnd(length)
    const head = requestText('POST', '/tokens', {
      ...json(wire.key),
      'Transfer-Encoding': 'chunked',
    })
    const chunks = Array.from({ length: length / size }, (_, at) => {
      return `${size.toString(16)}\r\n${text.slice(at * size, (at + 1) * size)}\r\n`
    })
    return Buffer.from(`${head}${chunks.join('')}0\r\n\r\n`)
  }

  const statusOf = async (request: Buffer) => (await wire.send(request)).answers[0]?.status

  /** Processor time of both ends, the least of some tries, in microseconds. */
  async function cpuOf(request: Buffer): Promise<number> {
    let least = Infinity
    for (let tries = 0; tries < 5; tries += 1) {
      const before = process.cpuUsage()
      expect(await statusOf(request)).toBe(201)
      const { user, system } = process.cpuUsage(before)
      least = Math.min(least, user + system)
    }
    return least
  }

  // proves E29.1
  test('of one byte costs no multiple of one in larger ones', async () => {
    const [tiny, larger] = [inChunks(bodyBytes, 1), inChunks(bodyBytes, 20)]
    expect((await cpuOf(tiny)) / (await cpuOf(larger))).toBeLessThan(5)
  })

  // proves E29.1
  test('is refused above the limit', async () => {
    expect(await statusOf(inChunks(3 * bodyBytes, 1))).toBe(413)
  })
})
