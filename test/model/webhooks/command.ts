/**
 * Parts that all commands of the model of webhooks share: callers, and the comparison of an answer.
 * @module
 */
import { expect } from 'bun:test'
import fc from 'fast-check'
import type { AsyncCommand } from 'fast-check'
import type { Answer } from '../../support/vault.ts'
import type { Expected } from '../access.ts'
import { pickOf } from '../arbitraries.ts'
import { sorted } from '../json.ts'
import type * as predict from './answers.ts'
import type { Server } from './server.ts'
import type { Model, ModelWebhook } from './state.ts'

export type WebhookCommand = AsyncCommand<Model, Server>

export const commandsOf = <Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  run: (model: Model, server: Server, input: Input) => Promise<void>,
): fc.Arbitrary<WebhookCommand> =>
  input.map(value => ({
    check: () => true,
    run: (model, server) => run(model, server, value),
    toString: () => `${name} ${JSON.stringify(value)}`,
  }))

const textOf = (value: unknown): string => JSON.stringify(sorted(value), undefined, 1)

export function expectAnswer(model: Model, answer: Answer, { status, json }: Expected): void {
  expect(`${answer.status} ${answer.text}`).toStartWith(`${status} `)
  if (status < 400 && json !== undefined) expect(textOf(answer.body)).toBe(textOf(json))
  else if (status < 400) expect(answer.text).toBe('')
  else {
    expect(answer.body['status']).toBe(status)
    for (const secret of ['planted', ...model.secrets]) expect(answer.text).not.toContain(secret)
  }
}

/** Mostly the manager. */
export const callers = fc.oneof(
  { arbitrary: fc.constant('manager' as const), weight: 12 },
  { arbitrary: fc.constantFrom('reader', 'masking', 'stranger', 'none', 'nobody'), weight: 1 },
)
type CallerKind = typeof callers extends fc.Arbitrary<infer T> ? T : never

export function callerOf({ keys }: Server, kind: CallerKind): predict.Caller {
  if (kind === 'none') return { key: undefined, id: '', may: 'nothing' }
  if (kind === 'nobody') return { key: 'key_1111111111111111111111', id: '', may: 'nothing' }
  const { key, id } = keys[kind]
  const rights = { manager: 'all', reader: 'read', masking: 'nothing', stranger: 'other' } as const
  return { key, id, may: rights[kind] }
}

export const pickWebhook = (model: Model, pick: number): ModelWebhook | undefined =>
  pickOf([...model.webhooks.values()], pick)
