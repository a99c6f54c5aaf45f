/**
 * Deliveries to a receiver with TLS: what arrives, in which order, and what becomes of failures.
 * @module
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { makeMayReach } from '../../src/egress/public-address.ts'
import { deliveriesPerWebhookMax } from '../../src/limits/work-limits.ts'
import { makeTestSend } from '../support/receivers.ts'
import { addTenant } from '../support/tenants.ts'
import {
  accept,
  answerWith,
  idsOf,
  startWebhookReceiver,
  typesOf,
  verified,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts'
import { openHookVault, strictSend, type HookVault } from '../support/webhooks.ts'

const open: { [Symbol.dispose]: () => void }[] = []
afterEach(() => {
  for (const each of open.splice(0)) each[Symbol.dispose]()
})

let seed = 200

async function begin(): Promise<{ vault: HookVault; receiver: WebhookReceiver }> {
  const receiver = await startWebhookReceiver()
  open.push(receiver)
  return { vault: await openHookVault((seed += 1)), receiver }
}

const deliveriesOf = async (vault: HookVault, id: string) =>
  (await vault.manage('GET', `/webhooks/${id}/deliveries`)).body['data'] as {
    sequence: number
    event_id: string
    type: string
    status: string
    attempts: number
    failure?: string
  }[]

/** Until the end of an attempt is written down: only then may a test move the clock. */
const attempted = (vault: HookVault, id: string, attempts: number): Promise<void> =>
  vault.deliverUntil(async () => (await deliveriesOf(vault, id))[0]?.attempts === attempts)

describe('an event', () => {
  // proves C18.3, C18.5, S97
  test('arrives signed, with ids alone', async () => {
    const { vault, receiver } = await begin()
    const { id, secret } = await vault.hook(receiver.url, ['token.created'])
    await vault.makeTokens('order-1')
    await vault.deliverUntil(() => receiver.messages.length === 1)
    const [message] = receiver.messages
    if (message === undefined) throw new Error('nothing came')
    expect(verified(secret, message)).toEqual(message.body)
    expect(message.body).toMatchObject({
      type: 'token.created',
      data: { token: { id: 'order-1' }, actor: { type: 'private' } },
      event: { tenant_id: vault.tenantId, type: 'token.created' },
    })
    expect(message.id).toBe(`${id}_${String(message.body.event['id'])}`)
    // A vault that was put back has other entries at its numbers: their ids differ by the hash.
    const sequence = Number(/_(\d+)_0_/.exec(message.id)?.[1])
    const [bundle] = await vault.deps.store.bundles({ from: sequence }, 1)
    const leaf = bundle?.leaves[sequence - bundle.first] ?? new Uint8Array()
    expect(message.id).toEndWith(`_${leaf.toHex().slice(0, 8)}`)
    expect(message.headers['content-type']).toBe('application/json')
    expect(message.text).not.toContain('planted')
  })

  test('is told by its type alone, and of refusals there is none', async () => {
    const { vault, receiver } = await begin()
    await vault.hook(receiver.url, ['token.deleted', 'token.revealed', 'token.updated'])
    await vault.makeTokens('t-1', 't-2')
    const { key } = vault
    const rule = { priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }
    const revealing = await vault.application({ type: 'private', rules: [rule] })
    await vault.ask('GET', '/tokens/t-1', { key })
    await vault.ask('GET', '/tokens/t-1', { key: revealing })
    await vault.ask('GET', '/tokens/absent', { key: revealing })
    await vault.ask('PATCH', '/tokens/t-1', { key, body: { metadata: { a: 'b' } } })
    await vault.ask('DELETE', '/tokens/t-1', { key })
    await vault.ask('DELETE', '/tokens/t-1', { key })
    await vault.makeTokens('t-3')
    await vault.ask('DELETE', '/tokens/t-3', { key })
    await vault.deliverUntil(() => receiver.messages.length === 4)
    expect(idsOf(receiver).filter(id => id === 't-1')).toHaveLength(3)
    expect(typesOf(receiver).filter((_, i) => idsOf(receiver)[i] === 't-1')).toEqual([
      'token.revealed',
      'token.updated',
      'token.deleted',
    ])
  })

  test('of a read that reveals nothing is one of its own', async () => {
    const { vault, receiver } = await begin()
    await vault.hook(receiver.url, ['token.read'])
    await vault.makeTokens('t-1', 't-2')
    await vault.ask('GET', '/tokens', { key: vault.key })
    await vault.deliverUntil(() => receiver.messages.length === 2)
    expect(new Set(idsOf(receiver))).toEqual(new Set(['t-1', 't-2']))
    expect(receiver.messages.every(({ text }) => !text.includes('planted'))).toBe(true)
  })

  test('of each token of a bulk request is one of its own', async () => {
    const { vault, receiver } = await begin()
    await vault.hook(receiver.url, ['token.created', 'token.revealed'])
    const body = { a: { type: 'token', data: 1 }, b: [{ type: 'token', data: 2 }] }
    const made = await vault.ask('POST', '/tokenize', { key: vault.key, body })
    expect(made.status).toBe(200)
    await vault.deliverUntil(() => receiver.messages.length === 2)
    expect(new Set(receiver.messages.map(({ id }) => id)).size).toBe(2)
    expect(receiver.messages.every(({ body: { type } }) => type === 'token.created')).toBe(true)
  })

  test('of applications, keys and sessions names them', async () => {
    const { vault, receiver } = await begin()
    await vault.hook(receiver.url, [
      'application.created',
      'application.deleted',
      'application.key.created',
      'application.key.deleted',
      'session.created',
    ])
    const body = { name: 'shop', type: 'public', permissions: ['token:create'] }
    const made = await vault.manage('POST', '/applications', body)
    const id = String(made.body['id'])
    const added = await vault.manage('POST', `/applications/${id}/keys`)
    const keyId = String(added.body['id'])
    const session = await vault.ask('POST', '/sessions', { key: String(made.body['key']) })
    await vault.manage('DELETE', `/applications/${id}/keys/${keyId}`)
    await vault.manage('DELETE', `/applications/${id}`)
    await vault.deliverUntil(() => receiver.messages.length === 5)
    const data = Object.fromEntries(
      receiver.messages.map(({ body: each }) => [each.type, each.data]),
    )
    expect(data).toMatchObject({
      'application.created': { application: { id } },
      'application.deleted': { application: { id } },
      'application.key.created': { application_key: { id: keyId, application_id: id } },
      'application.key.deleted': { application_key: { id: keyId, application_id: id } },
      'session.created': { session: { id: session.body['id'] } },
    })
  })

  // proves C18.6
  test('of another tenant, and of the installation, is not told', async () => {
    const { vault, receiver } = await begin()
    await vault.hook(receiver.url, ['token.created', 'application.created'])
    const other = await addTenant(vault)
    const key = await other.application({ type: 'private', permissions: ['token:create'] })
    const body = { id: 'of-others', type: 'token', data: 1 }
    expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(201)
    vault.deps.audit.note({
      atMs: vault.deps.now(),
      actorType: 'operator',
      operation: 'createApplication',
      entityType: 'application',
      entityIds: ['of-the-installation'],
      result: 200,
    })
    await vault.makeTokens('own')
    await vault.deliverUntil(() => receiver.messages.length > 0)
    await vault.restart()
    await vault.tick()
    expect(idsOf(receiver)).toEqual(['own'])
  })

  // proves C18.6
  test('from before a webhook was made is not told', async () => {
    const { vault, receiver } = await begin()
    await vault.makeTokens('before')
    await vault.deps.audit.flush()
    await vault.hook(receiver.url, ['token.created'])
    await vault.makeTokens('after')
    await vault.deliverUntil(() => receiver.messages.length > 0)
    expect(idsOf(receiver)).toEqual(['after'])
  })
})

describe('events of one thing', () => {
  // proves C18.3, C18.4
  test('keep their order, while others pass what fails', async () => {
    const { vault, receiver } = await begin()
    const { id } = await vault.hook(receiver.url, ['token.created', 'token.deleted'])
    const failing = answerWith(500)
    receiver.answer = (message, response) =>
      (message.body.data['token']?.id === 'bad' ? failing : accept)(message, response)
    await vault.makeTokens('bad', 'good')
    for (const token of ['bad', 'good']) {
      await vault.ask('DELETE', `/tokens/${token}`, { key: vault.key })
    }
    const waiting = async () => (await deliveriesOf(vault, id)).length
    await vault.deliverUntil(async () => receiver.messages.length >= 3 && (await waiting()) === 2)
    expect(await deliveriesOf(vault, id)).toMatchObject([
      { type: 'token.created', status: 'waiting', attempts: 1, failure: '500' },
      { type: 'token.deleted', status: 'waiting', attempts: 0 },
    ])
    receiver.answer = accept
    vault.clock.advance(7_000)
    await vault.deliverUntil(() => receiver.messages.length === 5)
    const ofBad = receiver.messages.filter(({ body }) => body.data['token']?.id === 'bad')
    expect(ofBad.map(({ body }) => body.type)).toEqual([
      'token.created',
      'token.created',
      'token.deleted',
    ])
    expect(ofBad[1]?.id).toBe(ofBad[0]?.id ?? '')
    await vault.deliverUntil(async () => (await waiting()) === 0)
  })

  test('are a bounded number at once', async () => {
    const { vault, receiver } = await begin()
    await vault.hook(receiver.url, ['token.created'])
    const held: (() => void)[] = []
    receiver.answer = (_, response) => held.push(() => response.writeHead(204).end())
    await vault.makeTokens(...Array.from({ length: 40 }, (_, i) => `t-${i}`))
    await vault.deliverUntil(() => held.length === deliveriesPerWebhookMax)
    await vault.tick()
    expect(receiver.together()).toBe(deliveriesPerWebhookMax)
    receiver.answer = accept
    for (const end of held) end()
    await vault.deliverUntil(() => receiver.messages.length === 40)
    expect(receiver.together()).toBe(deliveriesPerWebhookMax)
  })
})

describe('a receiver', () => {
  test('that was down gets all once it is up', async () => {
    const { vault, receiver } = await begin()
    const { port } = receiver
    const { id } = await vault.hook(receiver.url, ['token.created'])
    receiver[Symbol.dispose]()
    const ids = Array.from({ length: 20 }, (_, i) => `t-${i}`)
    await vault.makeTokens(...ids)
    const all = async () => {
      const deliveries = await deliveriesOf(vault, id)
      return deliveries.length === 20 && deliveries.every(({ attempts }) => attempts > 0)
    }
    await vault.deliverUntil(all)
    expect((await deliveriesOf(vault, id))[0]).toMatchObject({ failure: 'connection' })
    const again = await startWebhookReceiver(port)
    open.push(again)
    await vault.restart()
    vault.clock.advance(6 * 60_000)
    await vault.deliverUntil(() => again.messages.length === 20)
    expect(new Set(idsOf(again))).toEqual(new Set(ids))
    await vault.deliverUntil(async () => (await deliveriesOf(vault, id)).length === 0)
  })

  // proves C18.7
  test('that says when to come again is left alone until then', async () => {
    const { vault, receiver } = await begin()
    const { id } = await vault.hook(receiver.url, ['token.created'])
    receiver.answer = answerWith(503, { 'retry-after': '600' })
    await vault.makeTokens('t-1')
    await attempted(vault, id, 1)
    receiver.answer = accept
    await vault.makeTokens('t-2')
    vault.clock.advance(500_000)
    await vault.tick()
    await vault.tick()
    expect(receiver.messages).toHaveLength(1)
    vault.clock.advance(101_000)
    await vault.deliverUntil(() => receiver.messages.length === 3)
  })

  // proves C18.8
  test('that is gone (410) gets no more, until the webhook is enabled', async () => {
    const { vault, receiver } = await begin()
    const { id } = await vault.hook(receiver.url, ['token.created'])
    receiver.answer = answerWith(410)
    await vault.makeTokens('t-1')
    const state = async () => (await vault.manage('GET', `/webhooks/${id}`)).body
    await vault.deliverUntil(async () => (await state())['status'] === 'disabled')
    expect(await state()).toMatchObject({ disabled_by: 'gone' })
    await vault.makeTokens('t-2')
    await vault.tick()
    expect(receiver.messages).toHaveLength(1)
    expect((await vault.manage('POST', `/webhooks/${id}/test`)).status).toBe(409)
    receiver.answer = accept
    const enabled = {
      name: 'a',
      url: receiver.url,
      events: ['token.created'],
      status: 'enabled',
    }
    const { status, body } = await vault.manage('PUT', `/webhooks/${id}`, enabled)
    expect([status, body['status'], body['disabled_by']]).toEqual([200, 'enabled', undefined])
    await vault.deliverUntil(() => receiver.messages.length === 3)
    expect(idsOf(receiver)).toEqual(['t-1', 't-1', 't-2'])
  })

  // proves C18.7
  test('that redirects has failed, and nothing follows it', async () => {
    const { vault, receiver } = await begin()
    const { id } = await vault.hook(receiver.url, ['token.created'])
    receiver.answer = answerWith(307, { location: receiver.url })
    await vault.makeTokens('t-1')
    await vault.deliverUntil(async () => (await deliveriesOf(vault, id))[0]?.failure === '307')
    expect(receiver.messages).toHaveLength(1)
  })

  // proves C18.8
  test('that fails for days is given up, one event after the other, and then whole', async () => {
    const { vault, receiver } = await begin()
    const { id } = await vault.hook(receiver.url, ['token.created'])
    receiver.answer = answerWith(500)
    await vault.makeTokens('t-1')
    const dead = async () =>
      (await deliveriesOf(vault, id)).filter(({ status }) => status === 'dead')
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      await attempted(vault, id, attempt)
      vault.clock.advance(30 * 3_600_000)
      // Long before it is disabled: the sixth attempt would be after more than five days.
      if (attempt === 4) break
    }
    expect(await dead()).toEqual([])
    await vault.deliverUntil(
      async () => (await vault.manage('GET', `/webhooks/${id}`)).body['status'] === 'disabled',
    )
    expect((await vault.manage('GET', `/webhooks/${id}`)).body['disabled_by']).toBe('failing')
  })

  // proves C18.7, C18.10
  test('whose schedule is over has a dead delivery, which goes once it is told to', async () => {
    const { vault, receiver } = await begin()
    const { id } = await vault.hook(receiver.url, ['token.created'])
    receiver.answer = (message, response) =>
      (message.body.data['token']?.id === 'bad' ? answerWith(500) : accept)(message, response)
    await vault.makeTokens('bad')
    let good = 0
    const tries = () => idsOf(receiver).filter(each => each === 'bad').length
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      if (attempt < 10) await attempted(vault, id, attempt)
      else await vault.deliverUntil(() => tries() === attempt)
      // A success in between shows that the receiver is well.
      await vault.makeTokens(`good-${(good += 1)}`)
      await vault.deliverUntil(() => idsOf(receiver).includes(`good-${good}`))
      await vault.restart()
      vault.clock.advance(30 * 3_600_000)
    }
    const dead = async () => (await deliveriesOf(vault, id)).find(({ status }) => status === 'dead')
    await vault.deliverUntil(async () => (await dead()) !== undefined)
    const { sequence = -1 } = (await dead()) ?? {}
    expect(await dead()).toMatchObject({ attempts: 10, failure: '500', type: 'token.created' })
    receiver.answer = accept
    const path = `/webhooks/${id}/deliveries/${sequence}/retry`
    expect((await vault.manage('POST', path)).status).toBe(204)
    await vault.deliverUntil(() => tries() === 11)
    await vault.deliverUntil(async () => (await deliveriesOf(vault, id)).length === 0)
    expect((await vault.manage('POST', path)).status).toBe(404)
  })

  // proves C18.9
  test('at an address that nobody allows gets no byte', async () => {
    const receiver = await startWebhookReceiver()
    open.push(receiver)
    const vault = await openHookVault((seed += 1), strictSend())
    const { id } = await vault.hook(receiver.url, ['token.created'])
    await vault.makeTokens('t-1')
    await vault.deliverUntil(
      async () => (await deliveriesOf(vault, id))[0]?.failure === 'no_public_address',
    )
    expect(receiver.messages).toEqual([])
  })

  // proves C18.9
  test('tells nobody whether a name has an address here', async () => {
    const known: Readonly<Record<string, readonly string[]>> = { 'internal.example': ['10.0.0.1'] }
    const resolve = async (name: string): Promise<readonly string[]> => known[name] ?? []
    const vault = await openHookVault(
      (seed += 1),
      makeTestSend({ resolve, mayReach: makeMayReach([]) }),
    )
    const failures = async (host: string): Promise<unknown> => {
      const { id } = await vault.hook(`https://${host}/`, ['token.created'])
      await vault.makeTokens(host)
      await vault.deliverUntil(
        async () => (await deliveriesOf(vault, id))[0]?.failure !== undefined,
      )
      return (await deliveriesOf(vault, id))[0]?.failure
    }
    expect(await failures('internal.example')).toBe('no_public_address')
    expect(await failures('absent.example')).toBe('no_public_address')
  })
})
