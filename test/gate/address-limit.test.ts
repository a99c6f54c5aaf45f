/**
 * Requests of one address: 429 beyond a number in a second, before any key is looked at; behind a
 * trusted proxy each caller's own address counts.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openWire, requestText, type Wire } from '../support/wire.ts'

const perSecond = 3
const wrong = { 'SVC-API-KEY': 'wrong' }

async function statusesOf(
  wire: Wire,
  headers: Readonly<Record<string, string>>,
  count: number,
  path = '/tokens/absent',
): Promise<number[]> {
  const text = requestText('GET', path, headers).repeat(count)
  const { answers } = await wire.send(text, count)
  return answers.map(({ status }) => status)
}

const times = (count: number, status: number): number[] =>
  Array.from({ length: count }, () => status)

describe('without a proxy', () => {
  let wire: Wire
  beforeAll(async () => {
    wire = await openWire(611, { requestsPerSecondPerAddress: perSecond })
  })
  afterAll(() => wire.close())

  // proves C2.25
  test('wrong and live keys and unknown addresses count as one, whatever they claim', async () => {
    expect(await statusesOf(wire, wrong, 1)).toEqual([401])
    expect(await statusesOf(wire, {}, 1, '/nowhere')).toEqual([404])
    const claimed = { 'SVC-API-KEY': wire.key, 'X-Forwarded-For': '192.0.2.1' }
    expect(await statusesOf(wire, claimed, 1)).toEqual([404])
    expect(await statusesOf(wire, claimed, 1)).toEqual([429])
    const { answers } = await wire.send(requestText('GET', '/nowhere', {}), 1)
    expect(answers[0]?.status).toBe(429)
    expect(Number(answers[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    wire.vault.clock.advance(1_000)
    expect(await statusesOf(wire, wrong, 1)).toEqual([401])
  })
})

describe('behind a trusted proxy', () => {
  let wire: Wire
  beforeAll(async () => {
    const trustedProxies = ['127.0.0.0/8']
    wire = await openWire(612, { requestsPerSecondPerAddress: perSecond, trustedProxies })
  })
  afterAll(() => wire.close())

  // proves S34
  test('each caller has its own count, and cannot choose another', async () => {
    const of = (forwarded: string) => ({ ...wrong, 'X-Forwarded-For': forwarded })
    expect(await statusesOf(wire, of('192.0.2.1'), perSecond)).toEqual(times(perSecond, 401))
    expect(await statusesOf(wire, of('198.51.100.1, 192.0.2.1'), 1)).toEqual([429])
    expect(await statusesOf(wire, of('127.0.0.9, 192.0.2.1'), 1)).toEqual([429])
    expect(await statusesOf(wire, of('192.0.2.2'), 1)).toEqual([401])
  })
})
