/**
 * How a body comes in: within its bounds, once, and in time. Contract sections 1 and 16.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { openBodyBudget } from '../../../src/http/body-budget.ts'
import { leavesMuch, openIntake } from '../../../src/http/intake.ts'
import { unreadBodyBytesMax } from '../../../src/limits.ts'

const bounds = { bodyBytesMax: 10, bodiesBytesMax: 12, credentialBodiesBytesMax: 12 }

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

const open = (request: Request, budget = openBodyBudget(bounds), msMax?: number) => {
  const hold = budget(1)
  const allowance = {
    hold,
    bytesMax: bounds.bodyBytesMax,
    ...(msMax === undefined ? {} : { msMax }),
  }
  return { intake: openIntake(request, allowance), hold }
}

describe('the body of a request', () => {
  test('is read once, however often it is asked for', async () => {
    const { request, end } = streamed('ab', 'cd')
    const { intake } = open(request)
    end()
    const [first, second] = await Promise.all([intake.read(), intake.read()])
    expect([Buffer.from(first).toString(), first === second, intake.isRead()]).toEqual([
      'abcd',
      true,
      true,
    ])
  })

  test('in chunks counts as they come, and is refused when they are too many', async () => {
    const budget = openBodyBudget(bounds)
    budget(1).take(7)
    const { request } = streamed('abc', 'def')
    const { intake } = open(request, budget)
    await expect(intake.read()).rejects.toMatchObject({ kind: 'overloaded' })
    expect(intake.isRead()).toBe(false)
  })

  test('that was declared counts before a byte of it is read', async () => {
    const budget = openBodyBudget(bounds)
    const headers = { 'content-length': '9' }
    const post = { method: 'POST', headers, body: '123456789' }
    const waiting = open(new Request('http://localhost/', post), budget)
    const reading = waiting.intake.read()
    const refused = open(new Request('http://localhost/', post), budget)
    await expect(refused.intake.read()).rejects.toMatchObject({ kind: 'overloaded' })
    expect((await reading).length).toBe(9)
    waiting.hold.release()
    const next = open(new Request('http://localhost/', post), budget)
    expect((await next.intake.read()).length).toBe(9)
  })

  test('over the limit is refused as too large, and takes nothing', async () => {
    const budget = openBodyBudget(bounds)
    const headers = { 'content-length': '11' }
    const post = { method: 'POST', headers, body: '12345678901' }
    const { intake } = open(new Request('http://localhost/', post), budget)
    await expect(intake.read()).rejects.toMatchObject({ kind: 'payload_too_large' })
    budget(2).take(12)
  })

  test('that does not end is given up, and what it had is free', async () => {
    const budget = openBodyBudget(bounds)
    const { request } = streamed('a')
    const { intake, hold } = open(request, budget, 1)
    await expect(intake.read()).rejects.toMatchObject({ kind: 'request_timeout' })
    expect(intake.isRead()).toBe(false)
    hold.release()
    budget(1).take(12)
  })

  test('that nobody wants is cancelled, and one that was read is not', async () => {
    const unwanted = streamed('a')
    await open(unwanted.request).intake.drop()
    expect(unwanted.isCancelled()).toBe(true)
    const wanted = streamed('a')
    const { intake } = open(wanted.request)
    const reading = intake.read()
    await intake.drop()
    wanted.end()
    expect(Buffer.from(await reading).toString()).toBe('a')
    await open(new Request('http://localhost/')).intake.drop()
  })
})

const withHeaders = (headers: Readonly<Record<string, string>>) =>
  leavesMuch(new Request('http://localhost/', { method: 'POST', headers }))

test('a connection is kept for what is left of a short body, and for no other', () => {
  expect(withHeaders({})).toBe(false)
  expect(withHeaders({ 'content-length': String(unreadBodyBytesMax) })).toBe(false)
  expect(withHeaders({ 'content-length': String(unreadBodyBytesMax + 1) })).toBe(true)
  expect(withHeaders({ 'content-length': '1, 2' })).toBe(true)
  expect(withHeaders({ 'transfer-encoding': 'chunked' })).toBe(true)
})
