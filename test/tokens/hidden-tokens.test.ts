/**
 * A token that the caller's rules do not cover changes no answer to that caller: everything is
 * asked before the token is there and again after. Source: hardening T18, T21; contract section 2.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import {
  openAccessKit,
  type AccessKit,
  type LiveCredential,
} from '../support/access/credentials.ts'
import { plaintext } from '../support/access/operations.ts'
import { requestOf, type Ask } from '../support/vault.ts'

let kit: AccessKit
beforeAll(async () => {
  kit = await openAccessKit()
  const seen = { id: 'in-seen', type: 'card_number', data: '5555555555554444' }
  await asAll({ body: { ...seen, containers: ['/pci/high/'], metadata: { colour: 'red' } } })
})

const asAll = async (ask: Ask) => {
  const { status, body } = await kit.vault.ask('POST', '/tokens', {
    key: kit.sessions.authorizer.key,
    ...ask,
  })
  expect(status).toBe(201)
  return String(body['fingerprint'])
}

const hidden = {
  id: 'out-hidden',
  type: 'card_number',
  data: plaintext,
  containers: ['/general/high/'],
  metadata: { colour: 'blue' },
  search_indexes: ['{{ data }}', '{{ data | last4 }}'],
}

type Request = readonly [method: string, path: string, body?: unknown]

const search = (query: string, more: object = {}): Request => [
  'POST',
  '/tokens/search',
  { query, ...more },
]

const requests: readonly Request[] = [
  ['GET', '/tokens'],
  ['GET', '/tokens?size=1'],
  ['GET', '/tokens?start=&size=1'],
  ['GET', '/tokens?id=out-hidden&id=in-seen'],
  ['GET', '/tokens?type=card_number'],
  ['GET', '/tokens?container=/'],
  ['GET', '/tokens?container=/general/'],
  ['GET', '/tokens?metadata.colour=blue'],
  search(''),
  search('', { start: '', size: 1 }),
  search('id:out-hidden'),
  search('NOT id:absent'),
  search(`data:${plaintext}`),
  search('-data:4242'),
  search('container:/general/*'),
  search('metadata.colour:blue OR metadata.colour:red'),
  search('created_at:[* TO *]'),
  ['GET', '/tokens/out-hidden'],
  ['PATCH', '/tokens/out-hidden', { metadata: { colour: 'green' } }],
  ['PATCH', '/tokens/out-hidden', { containers: ['/pci/high/'] }],
  ['DELETE', '/tokens/out-hidden'],
  ['POST', '/detokenize', '{{ out-hidden }}'],
]

/** Cursors are sealed anew each time, and traces counted. */
const comparable = (text: string): string =>
  text.replace(/"next":"[^"]+"/, '"next":"a cursor"').replace(/urn:trace:[^"]+/, 'a trace')

async function askAll(by: LiveCredential, more: readonly Request[] = []): Promise<string[]> {
  const key = kit.keys[by] ?? ''
  const answers: string[] = []
  for (const [method, path, body] of [...requests, ...more]) {
    const ask = body === undefined ? { key } : { key, body }
    const { status, text } = await kit.vault.ask(method, path, ask)
    answers.push(`${method} ${path} ${JSON.stringify(body)}: ${status} ${comparable(text)}`)
  }
  return answers
}

const limited: readonly LiveCredential[] = ['redact', 'mask', 'reveal', 's-cont', 's-cond', 's-id']

describe('a token that is out of reach', () => {
  // proves H130, S44
  test('changes no answer to a caller who cannot reach it', async () => {
    const fingerprint = await asAll({ body: hidden })
    const byFingerprint: readonly Request[] = [
      ['GET', `/tokens?fingerprint=${fingerprint}`],
      search(`fingerprint:${fingerprint}`),
    ]
    const present = new Map<LiveCredential, string[]>()
    for (const by of limited) present.set(by, await askAll(by, byFingerprint))
    const seenByAll = await kit.vault.ask('GET', '/tokens/out-hidden', {
      key: kit.sessions.authorizer.key,
    })
    expect(seenByAll.status).toBe(200)
    await kit.vault.ask('DELETE', '/tokens/out-hidden', { key: kit.sessions.authorizer.key })
    for (const by of limited) {
      const absent = await askAll(by, byFingerprint)
      expect(present.get(by)).toEqual(absent)
      expect(absent.join()).not.toContain('"id":"out-hidden"')
      expect(absent.join()).toContain('"total_items":1')
    }
  })

  // proves S44
  test('is refused without a wait while others write it', async () => {
    await asAll({ body: { ...hidden, id: 'out-busy' } })
    const { vault, sessions, keys } = kit
    const { store } = vault.deps
    const begun = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const write: typeof store.write = async (...changes) => {
      begun.resolve()
      await held.promise
      return store.write(...changes)
    }
    const app = buildApp({ ...vault.deps, store: { ...store, write } })
    const path = '/tokens/out-busy'
    const change = { key: sessions.authorizer.key, body: { metadata: { colour: 'red' } } }
    const changed = app.handle(requestOf('PATCH', path, change))
    await begun.promise
    for (const by of limited) {
      const key = keys[by] ?? ''
      expect((await vault.ask('PATCH', path, { ...change, key })).status).toBe(404)
      expect((await vault.ask('DELETE', path, { key })).status).toBe(404)
    }
    const next = vault.ask('PATCH', path, { ...change, body: { metadata: { shape: 'round' } } })
    held.resolve()
    expect((await changed).status).toBe(200)
    expect((await next).body['metadata']).toEqual({ colour: 'red', shape: 'round' })
  })
})
