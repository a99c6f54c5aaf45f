/**
 * An idempotency key that another caller of the same credential knows, tried with guesses of the
 * body that it came with. Contract sections 1 and 14.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { guessWindowMs } from '../../src/limits/limits.ts'
import { ruleOf, small, spentLines, statusesOf, times } from '../support/guesses.ts'
import { openTestVault } from '../support/vault.ts'

const headers = { 'SVC-IDEMPOTENCY-KEY': 'order-7' }
const permissions = ['token:create', 'token:update']

async function openOrder(seed: number, application: object, settings = small) {
  const vault = await openTestVault(seed, settings)
  const key = await vault.application({ type: 'private', ...application })
  const body = { id: 'order', type: 'token', data: 'first' }
  expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(201)
  const methods = { '/tokens': 'POST', '/tokenize': 'POST', '/tokens/order': 'PATCH' } as const
  const bodyOf = (path: keyof typeof methods, data: unknown) =>
    path === '/tokens/order' ? { data } : { type: 'token', data }
  const send = (path: keyof typeof methods, data: unknown, name = headers) =>
    vault.ask(methods[path], path, { key, body: bodyOf(path, data), headers: name })
  return { vault, send }
}

describe.each(['/tokens', '/tokenize', '/tokens/order'] as const)('%s', path => {
  // proves C14.21, E15.1
  test('is refused, whatever the body, once the minute is spent', async () => {
    const { vault, send } = await openOrder(580, { permissions })
    const done = (await send(path, '1234')).status
    expect(statusesOf(await times(20, () => send(path, '1234')))).toEqual(Array(20).fill(done))
    const guesses = await times(8, digit => send(path, `000${digit}`))
    expect(statusesOf(guesses)).toEqual([409, 409, 409, 409, 409, 409, 429, 429])
    expect(guesses.at(-1)?.headers.get('retry-after')).toBe('60')
    const right = await send(path, '1234')
    expect([right.status, right.body['detail']]).toEqual([429, guesses.at(-1)?.body['detail']])
    expect(spentLines(vault).filter(line => line.includes('"repeat"'))).toHaveLength(1)
    expect((await send(path, '0000', { 'SVC-IDEMPOTENCY-KEY': 'order-8' })).status).toBe(done)
    vault.clock.advance(guessWindowMs)
    expect((await send(path, '1234')).status).toBe(done)
    expect((await send(path, '0000')).status).toBe(409)
  })

  test('costs nothing to a caller who sees all data, or without a budget', async () => {
    for (const { send } of [
      await openOrder(581, { rules: ruleOf('reveal') }),
      await openOrder(582, { permissions }, { createGuessesPerMinuteMax: 0 }),
    ]) {
      const done = (await send(path, '1234')).status
      const guesses = await times(20, () => send(path, '0000'))
      expect(statusesOf(guesses)).toEqual(Array(20).fill(409))
      expect((await send(path, '1234')).status).toBe(done)
    }
  })
})
