/**
 * Hostile requests to every documented address: methods that it does not have, and a session that
 * nobody authorized. Hardening H15, H123.
 * @module
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { canary } from '../support/refusal.ts'
import { expectUnharmed, openWire, requestText, type Wire } from '../support/wire.ts'

let wire: Wire
/** Method and target of every operation, with an id that is there where one belongs. */
let operations: readonly (readonly [string, string])[]
beforeAll(async () => {
  wire = await openWire(171)
  await wire.ask('POST', '/tokens', JSON.stringify({ id: 'one', type: 'token', data: canary }))
  const { body } = await wire.ask('GET', '/swagger/json')
  const { paths } = JSON.parse(body) as { paths: Record<string, Record<string, unknown>> }
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(
      method => [method.toUpperCase(), path.replaceAll(/\{[^}]+\}/g, 'one')] as const,
    ),
  )
})
afterAll(() => wire.close())

const targets = () => [...new Set(operations.map(([, target]) => target))]

test('every operation is there', () => {
  expect(operations.length).toBeGreaterThan(20)
})

// proves H15
test('H15: TRACE, CONNECT and OPTIONS do nothing at any address, and echo nothing', async () => {
  const headers = { 'SVC-API-KEY': wire.key, 'X-Canary': canary }
  for (const target of targets()) {
    for (const [method, status] of [
      ['TRACE', 405],
      ['CONNECT', 405],
      ['OPTIONS', 204],
    ] as const) {
      const received = await wire.send(requestText(method, target, headers))
      expect([method, target, received.answers[0]?.status]).toEqual([method, target, status])
      expect(received.answers[0]?.headers.get('allow')).toContain('OPTIONS')
      await expectUnharmed(wire, received)
    }
  }
})

// proves H15
test('H15: a method that nobody knows ends the connection at any address', async () => {
  for (const target of targets()) {
    const received = await wire.send(requestText('FOO', target, { 'SVC-API-KEY': wire.key }))
    expect([target, received.isClosed]).toEqual([target, true])
    expect(received.answers.filter(({ status }) => status !== 400)).toEqual([])
    await expectUnharmed(wire, received)
  }
})

// proves H123
test('H123: a session that nobody authorized may do nothing at any address', async () => {
  const permissions = ['token:create', 'token:update']
  const key = await wire.vault.application({ type: 'public', permissions })
  const made = await wire.vault.ask('POST', '/sessions', { key })
  const headers = { 'SVC-API-KEY': String(made.body['session_key']) }
  for (const [method, target] of operations.filter(([, target]) => !target.includes('swagger'))) {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const body = method === 'GET' || method === 'DELETE' ? '' : '{}'
    const answer = await wire.ask(method, target, body, { ...headers, 'Content-Type': type })
    expect([method, target, answer.status]).toEqual([method, target, 403])
    await expectUnharmed(wire, answer)
  }
})
