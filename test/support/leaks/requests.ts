/**
 * Good requests for every operation, with a mark in every field that takes a text.
 *
 * They stand by operation id; the test compares them with the OpenAPI document, so that a new
 * operation or member must be added here.
 * @module
 */
import { managerReads } from './manager-reads.ts'
import { mark, numberOf } from './marks.ts'

/** The caller. */
type Credential = 'management' | 'private' | 'public'

export interface Sent {
  readonly method: string
  readonly target: string
  readonly as: Credential
  readonly body?: unknown
  /** Headers by name; the content type of a body is added. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Makes the objects that requests need, each anew. */
export interface World {
  /** The id of a new token, itself made of marks. */
  token(): Promise<string>
  application(): Promise<string>
  /** The id of a new key, and of its application. */
  applicationKey(): Promise<{ readonly application: string; readonly key: string }>
  nonce(): Promise<string>
  /** The id of a new session. */
  session(): Promise<string>
  /** The id of a new webhook, in place of all others: a tenant may have few. */
  webhook(): Promise<string>
  /** The sequence of an entry of the log that a checkpoint covers. */
  signedEntry(): Promise<number>
  /** The sequence of a delivery that waits, and its webhook. */
  delivery(): Promise<{ readonly webhook: string; readonly sequence: number }>
}

export interface Operation {
  readonly success: number
  readonly prepare: (world: World) => Promise<readonly Sent[]>
}

const tomorrow = (): string => new Date(Date.now() + 24 * 60 * 60 * 1_000).toISOString()

const tokenPermissions = ['token:create', 'token:read', 'token:update', 'token:delete']

const idempotent = () => ({ 'SVC-IDEMPOTENCY-KEY': mark() })

/** Members of a token that create and update share. */
const changes = () => ({
  data: { [mark()]: mark(), list: [mark(), 1], held: { also: mark() } },
  mask: { [mark()]: mark(), list: [`${mark()} {{ data.list | json: '$[0]' | last4 }}`] },
  metadata: { [mark()]: mark(), [mark().toUpperCase()]: mark().toUpperCase() },
  containers: [`/${mark().toUpperCase()}/${mark()}/`],
  search_indexes: [mark(), `${mark()} {{ data.held.also }}`],
  fingerprint_expression: `${mark()} {{ data | stringify }}`,
  deduplicate_token: true,
  expires_at: tomorrow(),
})

export const newToken = () => ({ id: mark(), type: 'token', ...changes() })

const typed: readonly object[] = [
  {
    type: 'card',
    data: {
      number: numberOf('a card number'),
      expiration_month: 4,
      expiration_year: 2077,
      cvc: '8264',
      name: mark(),
    },
  },
  { type: 'card_number', data: numberOf('a card number of 19 digits') },
  {
    type: 'bank',
    data: { account_number: numberOf('a bank account'), routing_number: '110000000' },
  },
  { type: 'us_bank_account_number', data: numberOf('a bank account') },
  { type: 'social_security_number', data: numberOf('a social security number') },
  { type: 'employer_id_number', data: numberOf('an employer id') },
  { type: 'token', data: numberOf('a card number with spaces') },
]

const filters = () =>
  [
    `id=${mark()}&id=${mark()}&type=token&container=/${mark()}/&fingerprint=${mark()}`,
    `metadata.${mark()}=${mark()}&metadata[${mark()}]=${mark()}`,
    `transform=mask&metadata=${encodeURIComponent(JSON.stringify({ [mark()]: mark() }))}`,
  ].join('&')

const query = () =>
  `data:"${mark()}" OR metadata.${mark()}:${mark()} OR id:${mark()} OR container:/${mark()}/*`

const searches = (path: string): readonly Sent[] => [
  { method: 'POST', target: path, as: 'private', body: { query: query(), page: 1, size: 10 } },
  {
    method: 'POST',
    target: path,
    as: 'private',
    body: { query: query(), start: '', size: 10, transform: 'mask' },
  },
]

const grants = () => ({
  permissions: tokenPermissions,
  rules: [
    {
      description: mark(),
      priority: 1,
      container: `/${mark()}/`,
      transform: 'mask',
      permissions: tokenPermissions,
    },
  ],
})

const sessionGrants = () => {
  const { permissions, rules } = grants()
  const [rule] = rules
  const conditions = [
    { attribute: 'id', operator: 'starts_with', value: mark() },
    { attribute: 'container', operator: 'equals', value: `/${mark()}/` },
  ]
  const { container: _, ...other } = rule ?? { container: '' }
  return {
    permissions,
    rules: [...rules, { ...other, description: mark(), priority: 2, conditions }],
    expires_at: new Date(Date.now() + 600_000).toISOString(),
  }
}

const newApplication = (type: string) => ({
  name: mark(),
  type,
  ...grants(),
  expires_at: tomorrow(),
})

const nobody = '00000000-0000-0000-0000-000000000000'

/** Every filter of the log. */
const logFilters = [
  'entity_type=token&entity_id=some-id&operation=getToken&transform=mask&result=200',
  'start_date=2026-01-01T00:00:00Z&end_date=2126-01-01T00:00:00Z',
  `actor_id=${nobody}&key_id=${nobody}&trace_id=some-trace&from=127.0.0.1`,
].join('&')

const plain = (method: string, target: string, as: Credential): Operation => ({
  success: method === 'POST' ? 201 : 200,
  prepare: () => Promise.resolve([{ method, target, as }]),
})

const onToken = (
  method: string,
  success: number,
  more: () => Omit<Partial<Sent>, 'method' | 'target'> = () => ({}),
): Operation => ({
  success,
  async prepare(world) {
    const target = `/tokens/${await world.token()}`
    return [{ method, target, as: 'private', ...more() }]
  },
})

const onApplication = (
  method: string,
  success: number,
  rest = '',
  more: () => Omit<Partial<Sent>, 'method' | 'target'> = () => ({}),
): Operation => ({
  success,
  async prepare(world) {
    const target = `/applications/${await world.application()}${rest}`
    return [{ method, target, as: 'management', ...more() }]
  },
})

const onKey = (method: string, success: number): Operation => ({
  success,
  async prepare(world) {
    const { application, key } = await world.applicationKey()
    return [{ method, target: `/applications/${application}/keys/${key}`, as: 'management' }]
  },
})

/** Its name leads nowhere (RFC 2606): each delivery waits. */
export const newWebhook = () => ({
  name: mark(),
  url: `https://${mark()}.invalid/${mark()}?key=${mark()}`,
  events: ['webhook.test'],
  notify_email: `${mark()}@shop.example`,
})

const onWebhook = (
  method: string,
  success: number,
  rest = '',
  more: () => Omit<Partial<Sent>, 'method' | 'target'> = () => ({}),
): Operation => ({
  success,
  async prepare(world) {
    const target = `/webhooks/${await world.webhook()}${rest}`
    return [{ method, target, as: 'management', ...more() }]
  },
})

const creating = (target: string, as: Credential, bodies: () => readonly unknown[]) => ({
  prepare: () =>
    Promise.resolve(
      bodies().map(body => ({ method: 'POST', target, as, body, headers: idempotent() })),
    ),
})

/** An operation that needs nothing but itself. */
const reading = (sent: () => readonly Sent[]): Operation => ({
  success: 200,
  prepare: () => Promise.resolve(sent()),
})

const previewing = (bodies: readonly unknown[]): readonly Sent[] =>
  bodies.map(body => ({ method: 'POST', target: '/expressions/preview', as: 'management', body }))

const itemsOf = () => ({
  [mark()]: newToken(),
  [mark()]: [mark(), numberOf('a card number with spaces'), { deep: mark() }],
})

export const operations: Readonly<Record<string, Operation>> = {
  ...Object.fromEntries(
    Object.entries(managerReads).map(([name, at]) => [name, plain('GET', at, 'management')]),
  ),
  createToken: {
    success: 201,
    ...creating('/tokens', 'private', () => [newToken(), ...typed]),
  },
  listTokens: reading(() => [
    { method: 'GET', target: `/tokens?${filters()}&page=1&size=10`, as: 'private' },
    { method: 'GET', target: `/tokens?${filters()}&start=&size=10`, as: 'private' },
  ]),
  listTokensByCursor: reading(() => [
    { method: 'GET', target: `/v2/tokens?${filters()}&start=&size=10`, as: 'private' },
  ]),
  searchTokens: reading(() => searches('/tokens/search')),
  searchTokensByCursor: reading(() => searches('/v2/tokens/search').slice(1)),
  getToken: {
    success: 200,
    async prepare(world) {
      const target = `/tokens/${await world.token()}?explain=true`
      const headers = { 'SVC-REASON': `${mark()} ${mark()}` }
      return [
        { method: 'GET', target, as: 'private', headers },
        { method: 'GET', target: `${target}&transform=mask`, as: 'private' },
      ]
    },
  },
  updateToken: onToken('PATCH', 200, () => ({ body: changes(), headers: idempotent() })),
  deleteToken: onToken('DELETE', 204),
  tokenize: { success: 200, ...creating('/tokenize?mode=partial', 'private', () => [itemsOf()]) },
  detokenize: {
    success: 200,
    async prepare(world) {
      const body = { [mark()]: `{{ ${await world.token()} }}`, plain: mark() }
      return [{ method: 'POST', target: '/detokenize', as: 'private', body }]
    },
  },
  createSession: plain('POST', '/sessions', 'public'),
  authorizeSession: {
    success: 200,
    async prepare(world) {
      const body = { nonce: await world.nonce(), ...sessionGrants() }
      const target = '/sessions/authorize'
      return [{ method: 'POST', target, as: 'private', body, headers: idempotent() }]
    },
  },
  getLogProof: {
    success: 200,
    async prepare(world) {
      const target = `/logs/${await world.signedEntry()}/proof`
      return [{ method: 'GET', target, as: 'management' }]
    },
  },
  listLogs: {
    success: 200,
    prepare: () =>
      Promise.resolve(
        ['page=1', 'start='].map(part => ({
          method: 'GET',
          target: `/logs?${logFilters}&${part}&size=10`,
          as: 'management',
        })),
      ),
  },
  deleteSession: {
    success: 204,
    prepare: async world => [
      { method: 'DELETE', target: `/sessions/${await world.session()}`, as: 'management' },
    ],
  },
  createApplication: {
    success: 201,
    ...creating('/applications', 'management', () => [newApplication('private')]),
  },
  listApplications: {
    success: 200,
    async prepare(world) {
      const target = `/applications?id=${await world.application()}&type=private&page=1&size=9`
      return [{ method: 'GET', target, as: 'management' }]
    },
  },
  getOwnApplication: plain('GET', '/applications/key', 'private'),
  getApplication: onApplication('GET', 200),
  updateApplication: onApplication('PUT', 200, '?dry_run=false&confirm=true', () => ({
    body: { name: mark(), ...grants() },
    headers: idempotent(),
  })),
  deleteApplication: onApplication('DELETE', 204),
  regenerateKey: onApplication('POST', 200, '/regenerate', () => ({ headers: idempotent() })),
  listApplicationKeys: onApplication('GET', 200, '/keys?id=none&type=any'),
  createApplicationKey: onApplication('POST', 201, '/keys', () => ({
    body: { expires_at: tomorrow() },
    headers: idempotent(),
  })),
  getApplicationKey: onKey('GET', 200),
  deleteApplicationKey: onKey('DELETE', 204),
  updateOwnTenant: {
    success: 200,
    prepare: async () => {
      const body = { name: mark() }
      const target = '/tenants/self'
      return [{ method: 'PUT', target, as: 'management', body, headers: idempotent() }]
    },
  },
  createWebhook: {
    success: 201,
    async prepare(world) {
      // Makes room for it.
      await world.webhook()
      return creating('/webhooks', 'management', () => [newWebhook()]).prepare()
    },
  },
  getWebhook: onWebhook('GET', 200),
  updateWebhook: onWebhook('PUT', 200, '', () => ({
    body: { ...newWebhook(), status: 'enabled' },
    headers: idempotent(),
  })),
  deleteWebhook: onWebhook('DELETE', 204),
  rotateWebhook: onWebhook('POST', 200, '/rotate', () => ({
    body: { overlap_hours: 1 },
    headers: idempotent(),
  })),
  listWebhookDeliveries: onWebhook('GET', 200, '/deliveries?page=1&size=10'),
  retryWebhookDelivery: {
    success: 204,
    async prepare(world) {
      const { webhook, sequence } = await world.delivery()
      const target = `/webhooks/${webhook}/deliveries/${sequence}/retry`
      return [{ method: 'POST', target, as: 'management', headers: idempotent() }]
    },
  },
  replayWebhook: onWebhook('POST', 204, '/replay', () => ({
    body: { from: 0 },
    headers: idempotent(),
  })),
  testWebhook: onWebhook('POST', 204, '/test', () => ({ headers: idempotent() })),
  explainAccess: {
    success: 200,
    async prepare(world) {
      const [application_id, token_id] = [await world.application(), await world.token()]
      const asked = { application_id, permission: 'token:read' }
      const place = { id: mark(), containers: [`/${mark()}/`] }
      const operation = { permission: null, operation: 'getToken' }
      const session = { application_id: null, session_id: await world.session() }
      const askedOf = [{ token_id }, { place }, { token_id, ...operation }, { place, ...session }]
      return askedOf.map(about => ({
        method: 'POST',
        target: '/access/explain',
        as: 'management' as const,
        body: { ...asked, ...about },
      }))
    },
  },
  simulateAccess: {
    success: 200,
    async prepare(world) {
      const body = { application_id: await world.application(), proposed: grants() }
      return [{ method: 'POST', target: '/access/simulate', as: 'management', body }]
    },
  },
  listContainers: reading(() => [
    { method: 'GET', target: `/containers?below=/${mark()}/`, as: 'private' },
  ]),
  previewExpressions: reading(() => previewing([newToken(), ...typed])),
  listPermissions: plain('GET', '/permissions?application_type=private', 'management'),
}
