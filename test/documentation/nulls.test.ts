/**
 * The vault treats null as the OpenAPI document says: each member of each body is sent as null in a
 * request that is otherwise good.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import { checkerOf, operationsOf, readDocument, type Check } from '../support/openapi.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'
import { clearWebhooks, makeWaitingWebhook, webhookBody } from '../support/waiting-webhook.ts'

type Json = Readonly<Record<string, unknown>>

const permissions = ['token:create', 'token:read', 'token:update', 'token:use', 'token:search']
const rule = { description: 'Reads', priority: 1, transform: 'reveal', permissions: ['token:read'] }
const byContainer = { ...rule, container: '/' }
const condition = { attribute: 'container', operator: 'starts_with', value: '/' }
const expiresAt = () => new Date(vault.deps.now() + 3_600_000).toISOString()

let vault: TestVault
let check: Check
let told: ReadonlyMap<string, readonly string[]>
let privateKey: string
let publicKey: string

/** The names of the members that a schema of the document has. */
const membersOf = (schema: Json): string[] => Object.keys((schema['properties'] ?? {}) as object)

beforeAll(async () => {
  vault = await openTestVault(113)
  const document = await readDocument(vault)
  check = checkerOf(document, false)
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  privateKey = await vault.application({ type: 'private', rules })
  publicKey = await vault.application({ type: 'public', permissions: ['token:create'] })
  const named = operationsOf(document).flatMap(({ at, operation }) => {
    const [media] = Object.values(operation.requestBody?.content ?? {})
    if (media === undefined) return []
    const name = String(media.schema['$ref'] ?? '').replace('#/components/schemas/', '')
    return [[at, membersOf(document.components.schemas[name] ?? media.schema)] as const]
  })
  told = new Map(named)
})

const token = () => ({
  type: 'token',
  data: { a: 1 },
  mask: { a: '{{ data.a }}' },
  metadata: { order: 'A-1027' },
  containers: ['/a/'],
  search_indexes: ['{{ data.a }}'],
  fingerprint_expression: '{{ data.a }}',
  deduplicate_token: false,
  expires_at: expiresAt(),
})

const idOf = async (path: string, key: string, body?: object): Promise<string> => {
  const made = await vault.ask('POST', path, { key, ...(body === undefined ? {} : { body }) })
  expect(made.status).toBe(201)
  return String(made.body['id'])
}

const makeToken = () => idOf('/tokens', privateKey, token())
const makeApplication = () =>
  idOf('/applications', vault.managementKey, {
    name: 'a',
    type: 'private',
    permissions: ['token:create'],
  })
const makeNonce = async (): Promise<string> =>
  String((await vault.ask('POST', '/sessions', { key: publicKey })).body['nonce'])

const ofApplication = { name: 'Shop', permissions: ['token:create'], rules: [byContainer] }

const ofHook = { ...webhookBody, notify_email: 'ops@shop.example' }
const makeHook = () => makeWaitingWebhook(vault)
const newHook = async (): Promise<Json> => {
  await clearWebhooks(vault)
  return ofHook
}
const makeSession = () => idOf('/sessions', publicKey)
const inA = { containers: ['/a/'] }
const explaining = async (): Promise<Json> => ({
  application_id: await makeApplication(),
  permission: 'token:read',
})

interface Sent {
  readonly at: string
  readonly key: () => string
  readonly id?: () => Promise<string>
  readonly body: () => Json | Promise<Json>
  /** Objects within the body whose members are tried as well. */
  readonly within?: readonly (readonly string[])[]
  /** Members that are each one of two, one of which has to be there. */
  readonly only?: readonly string[]
  /** True if it may be left out: null then means no body. */
  readonly isOptional?: boolean
}

const grants = async (sessionRule: object): Promise<Json> => ({
  nonce: await makeNonce(),
  permissions: ['token:create'],
  rules: [sessionRule],
  expires_at: expiresAt(),
})

const change = () => {
  const { type: _, ...members } = token()
  return members
}

const manager = () => vault.managementKey
const operator = () => privateKey
const inRule = ['rules', '0']
const search = { query: 'type:token', size: 5 }
const byConditions = { ...rule, container: null, conditions: [condition] }

const sent: readonly Sent[] = [
  { at: 'POST /tokens', key: operator, body: () => ({ id: crypto.randomUUID(), ...token() }) },
  {
    at: 'POST /expressions/preview',
    key: manager,
    body: () => ({ id: crypto.randomUUID(), ...token() }),
  },
  { at: 'PATCH /tokens/{id}', key: operator, id: makeToken, body: change },
  { at: 'POST /tokens/search', key: operator, body: () => ({ ...search, page: 1 }) },
  {
    at: 'POST /tokens/search',
    key: operator,
    body: () => ({ ...search, start: '', transform: 'mask' }),
  },
  {
    at: 'POST /v2/tokens/search',
    key: operator,
    body: () => ({ ...search, start: '', page: null, transform: 'mask' }),
  },
  { at: 'POST /tokenize', key: operator, body: () => ({ name: 'Ada' }) },
  { at: 'POST /detokenize', key: operator, body: () => ({ name: 'Ada' }) },
  {
    at: 'POST /applications',
    key: manager,
    body: () => ({ ...ofApplication, type: 'private', expires_at: expiresAt() }),
    within: [inRule],
  },
  {
    at: 'PUT /applications/{id}',
    key: manager,
    id: makeApplication,
    body: () => ofApplication,
    within: [inRule],
  },
  {
    at: 'POST /applications/{id}/keys',
    key: manager,
    id: makeApplication,
    body: () => ({ expires_at: expiresAt() }),
    isOptional: true,
  },
  {
    at: 'POST /access/explain',
    key: manager,
    body: async () => ({ ...(await explaining()), token_id: await makeToken(), place: null }),
    only: ['application_id', 'permission', 'token_id'],
  },
  {
    at: 'POST /access/explain',
    key: manager,
    body: async () => ({ session_id: await makeSession(), operation: 'getToken', place: inA }),
    only: ['session_id', 'operation', 'place'],
  },
  {
    at: 'POST /access/explain',
    key: manager,
    body: async () => ({ ...(await explaining()), token_id: null, place: { id: 'a', ...inA } }),
    within: [['place']],
    only: ['application_id', 'permission', 'place'],
  },
  {
    at: 'POST /access/simulate',
    key: manager,
    body: async () => ({
      application_id: await makeApplication(),
      proposed: { permissions: ['token:create'], rules: [byContainer] },
    }),
    within: [['proposed'], ['proposed', ...inRule]],
  },
  { at: 'PUT /tenants/self', key: manager, body: () => ({ name: 'Shop' }) },
  { at: 'POST /webhooks', key: manager, body: newHook },
  {
    at: 'PUT /webhooks/{id}',
    key: manager,
    id: makeHook,
    body: () => ({ ...ofHook, status: 'enabled' }),
  },
  {
    at: 'POST /webhooks/{id}/rotate',
    key: manager,
    id: makeHook,
    body: () => ({ overlap_hours: 1 }),
    isOptional: true,
  },
  { at: 'POST /webhooks/{id}/replay', key: manager, id: makeHook, body: () => ({ from: 0 }) },
  {
    at: 'POST /sessions/authorize',
    key: operator,
    body: () => grants({ ...byContainer, conditions: null }),
    within: [inRule],
    only: ['container'],
  },
  {
    at: 'POST /sessions/authorize',
    key: operator,
    body: () => grants(byConditions),
    within: [inRule, [...inRule, 'conditions', '0']],
    only: ['conditions'],
  },
]

/** The value with null at a path. */
function withNull(value: unknown, [step, ...more]: readonly string[]): unknown {
  if (step === undefined) return null
  if (Array.isArray(value)) {
    return value.map((item, index) => (String(index) === step ? withNull(item, more) : item))
  }
  const members = value as Json
  return { ...members, [step]: withNull(members[step], more) }
}

const objectAt = (body: unknown, path: readonly string[]): object =>
  path.reduce<unknown>((value, step) => (value as Json)[step], body) as object

/** Returns the places where a body can be null, the whole body among them. */
const placesOf = (
  body: Json,
  { within = [], only = [], isOptional }: Sent,
): readonly (readonly string[])[] => [
  ...(isOptional === true ? [] : [[]]),
  ...[[], ...within].flatMap(place =>
    Object.keys(objectAt(body, place))
      .filter(name => !only.includes(name))
      .map(name => [...place, name]),
  ),
]

test('every member of every body that the document has is among them', async () => {
  const tried = new Map<string, string[]>()
  for (const row of sent) {
    tried.set(row.at, [...(tried.get(row.at) ?? []), ...Object.keys(await row.body())])
  }
  expect([...told.keys()].toSorted()).toEqual([...tried.keys()].toSorted())
  for (const [at, names] of told)
    expect(tried.get(at) ?? []).toEqual(expect.arrayContaining([...names]))
})

test.each(sent)('$at takes null where the document has it, and nowhere else', async row => {
  const [method = '', path = ''] = row.at.split(' ')
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const place = ['paths', path, method.toLowerCase(), 'requestBody', 'content', type, 'schema']
  const isTaken = async (body: unknown): Promise<boolean> => {
    const target = path.replace('{id}', (await row.id?.()) ?? '')
    const { status } = await vault.ask(method, target, {
      key: row.key(),
      type,
      body: body as object,
    })
    if (status > 299) expect(status).toBe(400)
    return status < 300
  }
  expect(await isTaken(await row.body())).toBe(true)
  for (const at of placesOf(await row.body(), row)) {
    const body = withNull(await row.body(), at)
    const isTold = check(body, ...place).length === 0
    expect([at, await isTaken(body)]).toEqual([at, isTold])
  }
})
