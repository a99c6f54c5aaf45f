/**
 * Every operation with a request that succeeds, on a target of its own.
 * @module
 */
import { signLog } from '../audit-log.ts'
import type { Ask } from '../vault.ts'
import { clearWebhooks, makeWaitingWebhook, webhookBody } from '../waiting-webhook.ts'
import type { AccessKit } from './credentials.ts'

export const places = ['in', 'out', 'move'] as const

/** Place of the target: covered by the rules, not covered, or covered and to be moved out. */
export type Place = (typeof places)[number]

/** Distinguishable: `shown` is the plaintext, `masked` the output of the mask. */
export const plaintext = '4242424242424242'
export const masked = 'XXXXXXXXXXXX4242'

const containers = { in: '/pci/high/', out: '/general/high/', move: '/pci/high/' } as const

interface Asked extends Ask {
  readonly method: string
  readonly path: string
}

/** A request, with the id of its token if it has one. */
export interface Prepared {
  readonly request: Asked
  readonly id?: string
}

export interface Operation {
  readonly route: string
  readonly success: number
  /** True if the request has a body. */
  readonly hasBody: boolean
  readonly prepare: (kit: AccessKit, place: Place) => Promise<Prepared>
}

let count = 0

const nextId = (place: Place): string => `${place === 'out' ? 'out' : 'in'}-${(count += 1)}`

const token = (place: Place) => ({
  id: nextId(place),
  type: 'card_number',
  data: plaintext,
  containers: [containers[place]],
})

/** Stores a token as its tenant's own application, by a key that sees all. */
async function storeToken({ vault, sessions }: AccessKit, place: Place): Promise<string> {
  const body = token(place)
  const { status, text } = await vault.ask('POST', '/tokens', {
    key: sessions.authorizer.key,
    body,
  })
  if (status !== 201) throw new Error(`no token: ${text}`)
  return body.id
}

async function storeApplication({ vault }: AccessKit): Promise<string> {
  const key = await vault.application({ type: 'private', permissions: ['token:read'] })
  const { body } = await vault.ask('GET', '/applications/key', { key })
  return String(body['id'])
}

const onToken =
  (
    method: string,
    pathOf: (id: string) => string,
    bodyOf?: (place: Place, id: string) => unknown,
  ) =>
  async (kit: AccessKit, place: Place): Promise<Prepared> => {
    const id = await storeToken(kit, place)
    const body = bodyOf === undefined ? {} : { body: bodyOf(place, id) }
    return { id, request: { method, path: pathOf(id), ...body } }
  }

const onApplication =
  (method: string, rest = '', body?: unknown) =>
  async (kit: AccessKit): Promise<Prepared> => {
    const path = `/applications/${await storeApplication(kit)}${rest}`
    return { request: { method, path, ...(body === undefined ? {} : { body }) } }
  }

const onKey =
  (method: string) =>
  async (kit: AccessKit): Promise<Prepared> => {
    const path = `/applications/${await storeApplication(kit)}/keys`
    const { body } = await kit.vault.ask('POST', path, { key: kit.vault.managementKey })
    return { request: { method, path: `${path}/${String(body['id'])}` } }
  }

const onWebhook =
  (method: string, rest = '', body?: unknown) =>
  async ({ vault }: AccessKit): Promise<Prepared> => {
    const path = `/webhooks/${await makeWaitingWebhook(vault)}${rest}`
    return { request: { method, path, ...(body === undefined ? {} : { body }) } }
  }

/** In place of one that was there, since a tenant has few. */
async function makingWebhook({ vault }: AccessKit): Promise<Prepared> {
  await clearWebhooks(vault)
  return { request: { method: 'POST', path: '/webhooks', body: webhookBody } }
}

const plainly = (method: string, path: string, body?: unknown) => (): Promise<Prepared> =>
  Promise.resolve({ request: { method, path, ...(body === undefined ? {} : { body }) } })

const creating = (path: string) => (_: AccessKit, place: Place) => {
  const body = token(place)
  return Promise.resolve({ id: body.id, request: { method: 'POST', path, body } })
}

async function authorizing({ sessions }: AccessKit): Promise<Prepared> {
  const { nonce } = await sessions.create()
  const rule = { priority: 1, container: '/pci/', transform: 'redact', permissions: ['token:read'] }
  const body = { nonce, rules: [rule] }
  return { request: { method: 'POST', path: '/sessions/authorize', body } }
}

async function endingSession({ vault, sessions }: AccessKit): Promise<Prepared> {
  const { body } = await vault.ask('POST', '/sessions', { key: sessions.creator.key })
  const grants = { nonce: body['nonce'], permissions: ['token:read'] }
  const asked = { key: sessions.authorizer.key, body: grants }
  await vault.ask('POST', '/sessions/authorize', asked)
  return { request: { method: 'DELETE', path: `/sessions/${String(body['id'])}` } }
}

const backend = { name: 'made', type: 'private', permissions: ['token:read'] }
const change = { name: 'changed', permissions: ['token:read'] }
const tokenAt = (id: string): string => `/tokens/${id}`

const patchOf = (place: Place) =>
  place === 'move' ? { containers: [containers.out] } : { metadata: { seen: 'yes' } }

const listing = (base: string): Operation => ({
  route: `GET ${base}/tokens`,
  success: 200,
  hasBody: false,
  prepare: onToken('GET', id => `${base}/tokens?id=${id}`),
})

const searching = (base: string): Operation => ({
  route: `POST ${base}/tokens/search`,
  success: 200,
  hasBody: true,
  prepare: onToken(
    'POST',
    () => `${base}/tokens/search`,
    (_, id) => ({ query: `id:"${id}"` }),
  ),
})

const webhooks: readonly Operation[] = [
  { route: 'POST /webhooks', success: 201, hasBody: true, prepare: makingWebhook },
  ...['/webhooks', '/webhooks/event-types', '/webhooks/public-key', '/events'].map(path => ({
    route: `GET ${path}`,
    success: 200,
    hasBody: false,
    prepare: plainly('GET', path),
  })),
  { route: 'GET /webhooks/{id}', success: 200, hasBody: false, prepare: onWebhook('GET') },
  {
    route: 'PUT /webhooks/{id}',
    success: 200,
    hasBody: true,
    prepare: onWebhook('PUT', '', webhookBody),
  },
  { route: 'DELETE /webhooks/{id}', success: 204, hasBody: false, prepare: onWebhook('DELETE') },
  {
    route: 'POST /webhooks/{id}/rotate',
    success: 200,
    hasBody: true,
    prepare: onWebhook('POST', '/rotate', {}),
  },
  {
    route: 'POST /webhooks/{id}/test',
    success: 204,
    hasBody: false,
    prepare: onWebhook('POST', '/test'),
  },
  {
    route: 'GET /webhooks/{id}/deliveries',
    success: 200,
    hasBody: false,
    prepare: onWebhook('GET', '/deliveries'),
  },
  {
    route: 'POST /webhooks/{id}/deliveries/{sequence}/retry',
    success: 204,
    hasBody: false,
    prepare: onWebhook('POST', '/deliveries/0/retry'),
  },
  {
    route: 'POST /webhooks/{id}/replay',
    success: 204,
    hasBody: true,
    prepare: onWebhook('POST', '/replay', { from: 0 }),
  },
]
const explaining: Operation = {
  route: 'POST /access/explain',
  success: 200,
  hasBody: true,
  async prepare(kit) {
    const id = await storeApplication(kit)
    const place = { containers: [containers.in] }
    const body = { application_id: id, permission: 'token:read', place }
    return { request: { method: 'POST', path: '/access/explain', body } }
  },
}

const previewing: Operation = {
  route: 'POST /expressions/preview',
  success: 200,
  hasBody: true,
  prepare: plainly('POST', '/expressions/preview', { type: 'token', data: 'sample' }),
}

const listingContainers: Operation = {
  route: 'GET /containers',
  success: 200,
  hasBody: false,
  prepare: plainly('GET', '/containers'),
}

const simulating: Operation = {
  route: 'POST /access/simulate',
  success: 200,
  hasBody: true,
  async prepare(kit) {
    const proposed = { permissions: ['token:read'] }
    const body = { application_id: await storeApplication(kit), proposed }
    return { request: { method: 'POST', path: '/access/simulate', body } }
  },
}

export const operations: readonly Operation[] = [
  { route: 'POST /tokens', success: 201, hasBody: true, prepare: creating('/tokens') },
  ...['', '/v2'].map(listing),
  ...['', '/v2'].map(searching),
  { route: 'GET /tokens/{id}', success: 200, hasBody: false, prepare: onToken('GET', tokenAt) },
  {
    route: 'PATCH /tokens/{id}',
    success: 200,
    hasBody: true,
    prepare: onToken('PATCH', tokenAt, patchOf),
  },
  {
    route: 'DELETE /tokens/{id}',
    success: 204,
    hasBody: false,
    prepare: onToken('DELETE', tokenAt),
  },
  { route: 'POST /tokenize', success: 200, hasBody: true, prepare: creating('/tokenize') },
  {
    route: 'POST /detokenize',
    success: 200,
    hasBody: true,
    prepare: onToken(
      'POST',
      () => '/detokenize',
      (_, id) => ({ id, data: `{{ ${id} }}` }),
    ),
  },
  { route: 'POST /sessions', success: 201, hasBody: false, prepare: plainly('POST', '/sessions') },
  { route: 'POST /sessions/authorize', success: 200, hasBody: true, prepare: authorizing },
  { route: 'GET /sessions', success: 200, hasBody: false, prepare: plainly('GET', '/sessions') },
  { route: 'DELETE /sessions/{id}', success: 204, hasBody: false, prepare: endingSession },
  {
    route: 'POST /applications',
    success: 201,
    hasBody: true,
    prepare: plainly('POST', '/applications', backend),
  },
  {
    route: 'GET /applications',
    success: 200,
    hasBody: false,
    prepare: plainly('GET', '/applications'),
  },
  {
    route: 'GET /applications/key',
    success: 200,
    hasBody: false,
    prepare: plainly('GET', '/applications/key'),
  },
  { route: 'GET /applications/{id}', success: 200, hasBody: false, prepare: onApplication('GET') },
  {
    route: 'PUT /applications/{id}',
    success: 200,
    hasBody: true,
    prepare: onApplication('PUT', '', change),
  },
  {
    route: 'POST /applications/{id}/regenerate',
    success: 200,
    hasBody: false,
    prepare: onApplication('POST', '/regenerate'),
  },
  {
    route: 'DELETE /applications/{id}',
    success: 204,
    hasBody: false,
    prepare: onApplication('DELETE'),
  },
  {
    route: 'GET /applications/{id}/keys',
    success: 200,
    hasBody: false,
    prepare: onApplication('GET', '/keys'),
  },
  {
    route: 'POST /applications/{id}/keys',
    success: 201,
    hasBody: true,
    prepare: onApplication('POST', '/keys', {}),
  },
  {
    route: 'GET /applications/{id}/keys/{keyId}',
    success: 200,
    hasBody: false,
    prepare: onKey('GET'),
  },
  {
    route: 'DELETE /applications/{id}/keys/{keyId}',
    success: 204,
    hasBody: false,
    prepare: onKey('DELETE'),
  },
  {
    route: 'GET /logs/checkpoint',
    success: 200,
    hasBody: false,
    prepare: async kit => {
      await signLog(kit.vault)
      return { request: { method: 'GET', path: '/logs/checkpoint' } }
    },
  },
  {
    route: 'GET /logs/{id}/proof',
    success: 200,
    hasBody: false,
    prepare: async kit => {
      const sequence = await signLog(kit.vault)
      return { request: { method: 'GET', path: `/logs/${sequence}/proof` } }
    },
  },
  ...['/logs', '/logs/entity-types'].map(path => ({
    route: `GET ${path}`,
    success: 200,
    hasBody: false,
    prepare: plainly('GET', path),
  })),
  ...['/status', '/status/history', '/status/settings'].map(path => ({
    route: `GET ${path}`,
    success: 200,
    hasBody: false,
    prepare: plainly('GET', path),
  })),
  {
    route: 'GET /permissions',
    success: 200,
    hasBody: false,
    prepare: plainly('GET', '/permissions'),
  },
  {
    route: 'GET /tenants/self',
    success: 200,
    hasBody: false,
    prepare: plainly('GET', '/tenants/self'),
  },
  {
    route: 'PUT /tenants/self',
    success: 200,
    hasBody: true,
    prepare: plainly('PUT', '/tenants/self', { name: 'Shop' }),
  },
  ...webhooks,
  explaining,
  simulating,
  previewing,
  listingContainers,
]
