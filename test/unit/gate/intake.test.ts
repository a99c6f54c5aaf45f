/**
 * Intake of a body: within its bounds, once, and in time. Contract sections 1 and 16.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { makeBodyBudget } from '../../../src/http/budgets.ts'
import { turnOwner } from '../../support/turn-owner.ts'
import { dropBody, leavesMuch, readBytes } from '../../../src/http/bodies.ts'
import { isLast } from '../../../src/http/keep-alive.ts'
import { shortBodyBytesMax, unreadBodyBytesMax } from '../../../src/limits/limits.ts'

const bounds = {
  bodyBytesMax: 10 * shortBodyBytesMax,
  bodiesBytesMax: 12 * shortBodyBytesMax,
  credentialBodiesBytesMax: 12 * shortBodyBytesMax,
}
const short = 'a'.repeat(shortBodyBytesMax)

/** A body in chunks; it ends where the test says so. */
function streamed(...texts: readonly string[]) {
  let end: () => void = () => {}
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of texts) controller.enqueue(Buffer.from(text))
      end = () => controller.close()
    },
    cancel() {
      isCancelled = true
    },
  })
  const headers = { 'transfer-encoding': 'chunked' }
  const request = new Request('http://localhost/', { method: 'POST', headers, body })
  return { request, end, isCancelled: () => isCancelled }
}

const open = (request: Request, budget = makeBodyBudget(bounds), msMax?: number) => {
  const hold = budget(turnOwner(1))
  return { read: () => readBytes(request, hold, bounds.bodyBytesMax, msMax), hold }
}

describe('the body of a request', () => {
  test('is read once', async () => {
    const { request, end } = streamed('ab', 'cd')
    const { read } = open(request)
    end()
    expect(Buffer.from(await read()).toString()).toBe('abcd')
    expect((await read()).length).toBe(0)
  })

  test('in chunks counts as they come, and is refused when they are too many', async () => {
    const budget = makeBodyBudget(bounds)
    budget(turnOwner(1)).take(10 * shortBodyBytesMax)
    const { request } = streamed(short, 'a', short)
    const { read } = open(request, budget)
    await expect(read()).rejects.toMatchObject({ kind: 'overloaded' })
  })

  test('in chunks takes nothing while it is short', async () => {
    const budget = makeBodyBudget(bounds)
    budget(turnOwner(1)).take(12 * shortBodyBytesMax)
    const { request, end } = streamed('ab', short.slice(2))
    end()
    expect((await open(request, budget).read()).length).toBe(shortBodyBytesMax)
  })

  const posted = (length: number, body: string | ReadableStream<Uint8Array>) =>
    new Request('http://localhost/', {
      method: 'POST',
      headers: { 'content-length': String(length) },
      body,
    })

  // proves E10.13
  test('that is long counts by what has come of it, however much was declared', async () => {
    const budget = makeBodyBudget(bounds)
    const whole = short.repeat(10)
    const { request, end } = streamed(short, 'a')
    const first = open(posted(short.length + 1, request.body ?? ''), budget).read()
    await Bun.sleep(0)
    const second = open(posted(whole.length, whole), budget)
    expect((await second.read()).length).toBe(whole.length)
    // A declared length without room is refused before the body is read.
    const third = open(posted(whole.length, whole), budget)
    await expect(third.read()).rejects.toMatchObject({ kind: 'overloaded' })
    second.hold.release()
    const fourth = open(posted(whole.length, whole), budget)
    expect((await fourth.read()).length).toBe(whole.length)
    end()
    expect((await first).length).toBe(short.length + 1)
  })

  test('that ends before what was declared has come is refused', async () => {
    const { request, end } = streamed(short, short)
    end()
    const { read } = open(posted(3 * short.length, request.body ?? ''))
    await expect(read()).rejects.toMatchObject({ kind: 'invalid_request' })
  })

  test('that is short is taken where there is no room for long ones', async () => {
    const budget = makeBodyBudget(bounds)
    budget(turnOwner(1)).take(12 * shortBodyBytesMax)
    const { read } = open(posted(short.length, short), budget)
    expect((await read()).length).toBe(short.length)
  })

  // proves E10.13
  test('that comes in very many pieces is put together as it was sent', async () => {
    const pieces = Array.from({ length: 20_000 }, (_, index) => `${index},`)
    const { request, end } = streamed(...pieces)
    end()
    const bytes = await open(request).read()
    expect(Buffer.from(bytes).toString()).toBe(pieces.join(''))
  })

  test('over the limit is refused as too large, and takes nothing', async () => {
    const budget = makeBodyBudget(bounds)
    const { read } = open(posted(bounds.bodyBytesMax + 1, short.repeat(11)), budget)
    await expect(read()).rejects.toMatchObject({ kind: 'payload_too_large' })
    budget(turnOwner(2)).take(bounds.bodiesBytesMax)
  })

  // proves E10.8
  test('that does not end is given up, and what it had is free', async () => {
    const budget = makeBodyBudget(bounds)
    const { request } = streamed(short, short)
    const { read, hold } = open(request, budget, 1)
    await expect(read()).rejects.toMatchObject({ kind: 'request_timeout' })
    hold.release()
    budget(turnOwner(1)).take(bounds.bodiesBytesMax)
  })

  test('that nobody wants is cancelled, if there is one', async () => {
    const unwanted = streamed('a')
    await dropBody(unwanted.request)
    expect(unwanted.isCancelled()).toBe(true)
    expect(dropBody(new Request('http://localhost/', { method: 'DELETE' }))).toBeUndefined()
    expect(dropBody(new Request('http://localhost/'))).toBeUndefined()
  })
})

const withHeaders = (headers: Readonly<Record<string, string>>) =>
  leavesMuch(new Request('http://localhost/', { method: 'POST', headers }))

test('a connection is kept for what is left of a short body, and for no other', () => {
  expect(withHeaders({})).toBe(false)
  expect(withHeaders({ 'content-length': String(unreadBodyBytesMax) })).toBe(false)
  expect(withHeaders({ 'content-length': String(unreadBodyBytesMax + 1) })).toBe(true)
  expect(withHeaders({ 'content-length': '1, 2' })).toBe(true)
})

describe('a connection ends with the answer', () => {
  const isLastOf = (headers: Record<string, string>) =>
    isLast(new Request('http://localhost/', { method: 'POST', headers }))

  test('to chunks, whatever was read of them', () => {
    expect(isLastOf({ 'transfer-encoding': 'chunked' })).toBe(true)
    expect(isLastOf({})).toBe(false)
  })

  test('to a request that says so', () => {
    for (const connection of ['close', 'CLOSE', 'keep-alive, close', 'close\t,te']) {
      expect([connection, isLastOf({ connection })]).toEqual([connection, true])
    }
    for (const connection of ['keep-alive', 'closed', 'x-close', 'not close']) {
      expect([connection, isLastOf({ connection })]).toEqual([connection, false])
    }
  })
})
