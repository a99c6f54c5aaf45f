/**
 * Requests that are sent without waiting for answers: from a bound on their connection ends with an
 * answer, and requests behind it are never run. Hardening H126.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { admittedPerTurnMax, strangersPerTurnMax } from '../../src/limits/limits.ts'
import { canary } from '../support/refusal.ts'
import { expectUnharmed, openWire, requestText, type Wire } from '../support/wire.ts'

let wire: Wire
beforeAll(async () => {
  wire = await openWire(171)
})
afterAll(() => wire.close())

const many = 10 * strangersPerTurnMax
const wrong = (index: number) => ({ 'SVC-API-KEY': `key_${canary}-${index}` })
const none = () => ({})

const sendMany = (
  method: string,
  path: string,
  headersOf: (index: number) => Readonly<Record<string, string>>,
) => {
  const all = Array.from({ length: many }, (_, index) =>
    requestText(method, path, headersOf(index)),
  )
  return wire.send(all.join(''), many)
}

describe('many requests in one write', () => {
  test.each([
    // proves H126
    ['H126: with wrong keys', 'GET', '/tokens', wrong, 401],
    ['H126: without a key', 'POST', '/tokens', none, 401],
    ['H126: to an address that is not there', 'GET', '/nowhere', none, 404],
    ['H126: of a method that is not there', 'PUT', '/tokens', none, 405],
    ['H126: that ask what is allowed', 'OPTIONS', '/tokens', none, 204],
  ] as const)('%s end their connection', async (_name, method, path, headersOf, status) => {
    const received = await sendMany(method, path, headersOf)
    const { answers, isClosed } = received
    expect(new Set(answers.map(answer => answer.status))).toEqual(new Set([status]))
    expect(isClosed).toBe(true)
    expect(answers.length).toBeLessThan(many)
    await expectUnharmed(wire, received)
  })

  test('H126: of a live key that lacks the permission end their connection', async () => {
    const key = await wire.vault.application({ type: 'public', permissions: ['token:create'] })
    const headers = { 'SVC-API-KEY': key }
    const { answers, isClosed } = await sendMany('GET', '/tokens', () => headers)
    expect([answers[0]?.status, isClosed]).toEqual([403, true])
    expect(answers.length).toBeLessThan(many)
  })

  test('H126: of a live key above its rate end their connection', async () => {
    const limited = await openWire(172, { requestsPerSecondMax: 10 })
    const head = requestText('GET', '/tokens/absent', { 'SVC-API-KEY': limited.key })
    const { answers, isClosed } = await limited.send(head.repeat(many), many)
    expect([answers[0]?.status, answers.at(-1)?.status, isClosed]).toEqual([404, 429, true])
    expect(answers.length).toBeLessThan(many)
    await limited.close()
  })

  // proves H126
  test('H126: of a live key that may ask end theirs above a bound', async () => {
    const one = requestText('GET', '/tokens/absent', { 'SVC-API-KEY': wire.key })
    const within = await wire.send(one.repeat(admittedPerTurnMax), admittedPerTurnMax)
    expect(new Set(within.answers.map(({ status }) => status))).toEqual(new Set([404]))
    expect([within.answers.length, within.isClosed]).toEqual([admittedPerTurnMax, false])
    const count = 3 * admittedPerTurnMax
    const above = await wire.send(one.repeat(count), count)
    expect(above.isClosed).toBe(true)
    expect(above.answers.length).toBeLessThan(count)
    await expectUnharmed(wire, above)
  })

  // proves H126
  test('H126: are answered up to one that says that the connection ends', async () => {
    // Few enough above the bound that the end overtakes no answer.
    const count = strangersPerTurnMax + 10
    const all = Array.from({ length: count }, (_, index) =>
      requestText('GET', '/tokens', wrong(index)),
    )
    const { answers, isClosed } = await wire.send(all.join(''), count)
    const said = answers.map(({ headers }) => headers.get('connection'))
    expect(isClosed).toBe(true)
    expect(said.slice(0, -1)).toEqual(Array<undefined>(strangersPerTurnMax).fill(undefined))
    expect(said.at(-1)).toBe('close')
  })
})

test('H126: a request behind them is never run', async () => {
  const create = (index: number): string =>
    requestText(
      'POST',
      '/tokens',
      { 'SVC-API-KEY': wire.key, 'Content-Type': 'application/json' },
      JSON.stringify({ id: `behind-${index}`, type: 'token', data: 'x' }),
    )
  const refused = Array.from({ length: strangersPerTurnMax + 10 }, (_, index) =>
    requestText('GET', '/tokens', wrong(index)),
  )
  const behind = Array.from({ length: 20 }, (_, index) => create(index))
  const all = [...refused, ...behind]
  const { answers, isClosed } = await wire.send(all.join(''), all.length)
  expect(isClosed).toBe(true)
  expect(answers.filter(({ status }) => status !== 401)).toEqual([])
  for (const index of behind.keys()) {
    expect((await wire.ask('GET', `/tokens/behind-${index}`)).status).toBe(404)
  }
})

// proves H126
test('H126: a wrong key on each of many connections ends none of them', async () => {
  const tries = Array.from({ length: 3 * strangersPerTurnMax }, (_, index) =>
    wire.send(requestText('GET', '/tokens', wrong(index))),
  )
  for (const { answers, isClosed } of await Promise.all(tries)) {
    expect([answers[0]?.status, answers[0]?.headers.get('connection')]).toEqual([401, undefined])
    expect(isClosed).toBe(false)
  }
})
