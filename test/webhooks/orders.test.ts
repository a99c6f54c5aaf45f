/**
 * Deliveries after a crash, and those that a manager asks for.
 * @module
 */
import { afterEach, describe, expect, test } from 'bun:test'
import {
  answerWith,
  idsOf,
  startWebhookReceiver,
  verified,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts'
import { openHookVault, type HookVault } from '../support/webhooks.ts'

const open: { [Symbol.dispose]: () => void }[] = []
afterEach(() => {
  for (const each of open.splice(0)) each[Symbol.dispose]()
})

let seed = 250

async function begin(): Promise<{ vault: HookVault; receiver: WebhookReceiver }> {
  const receiver = await startWebhookReceiver()
  open.push(receiver)
  return { vault: await openHookVault((seed += 1)), receiver }
}

describe('after a crash', () => {
  // proves C18.4
  test('what was not written down goes again, under the same ids and in order', async () => {
    const { vault, receiver } = await begin()
    await vault.hook(receiver.url, ['token.created', 'token.deleted'])
    await vault.makeTokens('t-1', 't-2')
    await vault.ask('DELETE', '/tokens/t-1', { key: vault.key })
    await vault.tick()
    vault.crash()
    await vault.deliverUntil(() => new Set(receiver.messages.map(({ id }) => id)).size === 3)
    await vault.restart()
    await vault.tick()
    const distinct = new Map(receiver.messages.map(message => [message.id, message]))
    expect(distinct.size).toBe(3)
    const first = (type: string) =>
      receiver.messages.findIndex(
        ({ body }) => body.data['token']?.id === 't-1' && body.type === type,
      )
    expect(first('token.created')).toBeLessThan(first('token.deleted'))
  })

  test('what a webhook was not told of before its update stays so', async () => {
    const { vault, receiver } = await begin()
    const { id } = await vault.hook(receiver.url, ['token.deleted'])
    await vault.makeTokens('t-1')
    await vault.tick()
    const body = { name: 'a', url: receiver.url, events: ['token.created'] }
    expect((await vault.manage('PUT', `/webhooks/${id}`, body)).status).toBe(200)
    await vault.tick()
    vault.crash()
    await vault.makeTokens('t-2')
    await vault.deliverUntil(() => idsOf(receiver).includes('t-2'))
    await vault.restart()
    expect(idsOf(receiver)).toEqual(['t-2'])
  })
})

describe('a manager', () => {
  // proves C18.10
  test('has a test sent, to that webhook alone', async () => {
    const { vault, receiver } = await begin()
    const { id } = await vault.hook(receiver.url, ['token.created'])
    await vault.hook(receiver.url, ['webhook.test'])
    expect((await vault.manage('POST', `/webhooks/${id}/test`)).status).toBe(204)
    await vault.makeTokens('t-1')
    await vault.deliverUntil(() => receiver.messages.length === 2)
    const [tested] = receiver.messages.filter(({ body }) => body.type === 'webhook.test')
    expect(tested?.body.data['webhook']?.id).toBe(id)
  })

  // proves C18.10
  test('has events go once more from an entry on', async () => {
    const { vault, receiver } = await begin()
    const { id } = await vault.hook(receiver.url, ['token.created'])
    await vault.makeTokens('t-1', 't-2')
    await vault.deliverUntil(() => receiver.messages.length === 2)
    const { event } =
      receiver.messages.find(({ body }) => body.data['token']?.id === 't-2')?.body ?? {}
    const from = Number(String(event?.['id']).split('_')[0])
    expect((await vault.manage('POST', `/webhooks/${id}/replay`, { from })).status).toBe(204)
    await vault.deliverUntil(() => receiver.messages.length === 3)
    await vault.restart()
    await vault.tick()
    expect(idsOf(receiver).at(-1)).toBe('t-2')
    const late = await vault.manage('POST', `/webhooks/${id}/replay`, { from: 1_000_000 })
    expect(late.status).toBe(400)
  })

  // proves C18.6, C18.10
  test('has no events go that are older than the webhook', async () => {
    const { vault, receiver } = await begin()
    await vault.makeTokens('before')
    const { id } = await vault.hook(receiver.url, ['token.created'])
    await vault.makeTokens('after')
    await vault.deliverUntil(() => receiver.messages.length === 1)
    expect((await vault.manage('POST', `/webhooks/${id}/replay`, { from: 0 })).status).toBe(204)
    await vault.deliverUntil(() => receiver.messages.length === 2)
    await vault.restart()
    await vault.tick()
    expect(idsOf(receiver)).toEqual(['after', 'after'])
  })

  // proves C18.10
  test('has a delivery go now, which tells no attempt of another age', async () => {
    const { vault, receiver } = await begin()
    const { id } = await vault.hook(receiver.url, ['token.created'])
    receiver.answer = answerWith(500)
    await vault.makeTokens('t-1')
    const list = async () =>
      (await vault.manage('GET', `/webhooks/${id}/deliveries`)).body['data'] as readonly {
        readonly sequence: number
        readonly next_attempt_at: string
      }[]
    await vault.deliverUntil(async () => (await list()).length === 1)
    // It is under way for as long as its receiver says nothing.
    receiver.answer = () => {}
    const [{ sequence = -1 } = {}] = await list()
    await vault.manage('POST', `/webhooks/${id}/deliveries/${sequence}/retry`)
    await vault.deliverUntil(() => receiver.messages.length === 2)
    await vault.tick()
    const [waiting] = await list()
    expect(waiting?.next_attempt_at).toStartWith('2030-')
  })

  // proves C18.2
  test('makes a new secret, and both sign until the overlap is over', async () => {
    const { vault, receiver } = await begin()
    const { id, secret: older } = await vault.hook(receiver.url, ['token.created'])
    const rotated = await vault.manage('POST', `/webhooks/${id}/rotate`, { overlap_hours: 2 })
    const newer = String(rotated.body['secret'])
    expect(newer).not.toBe(older)
    await vault.makeTokens('t-1')
    await vault.deliverUntil(() => receiver.messages.length === 1)
    const [both] = receiver.messages
    if (both === undefined) throw new Error('nothing came')
    verified(older, both)
    verified(newer, both)
    vault.clock.advance(2 * 3_600_000)
    await vault.makeTokens('t-2')
    await vault.deliverUntil(() => receiver.messages.length === 2)
    const [, alone] = receiver.messages
    if (alone === undefined) throw new Error('nothing came')
    verified(newer, alone)
    expect(() => verified(older, alone)).toThrow('no signature')
  })

  test('who deletes a webhook has nothing more sent', async () => {
    const { vault, receiver } = await begin()
    const { id } = await vault.hook(receiver.url, ['token.created'])
    await vault.makeTokens('t-1')
    await vault.deliverUntil(() => receiver.messages.length === 1)
    expect((await vault.manage('DELETE', `/webhooks/${id}`)).status).toBe(204)
    await vault.makeTokens('t-2')
    await vault.tick()
    await vault.tick()
    expect(idsOf(receiver)).toEqual(['t-1'])
  })
})
