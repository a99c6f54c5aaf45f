/**
 * Examples of the OpenAPI document, tried: their requests are accepted, and answers have exactly
 * the members that it names.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import {
  checkerOf,
  operationsOf,
  readDocument,
  type Check,
  type Placed,
} from '../support/openapi.ts'
import { signLog } from '../support/audit-log.ts'
import { makeWaitingWebhook } from '../support/waiting-webhook.ts'
import { openTestVault, type Answer, type Ask, type TestVault } from '../support/vault.ts'

const permissions = ['create', 'read', 'update', 'delete', 'search', 'use'].map(
  name => `token:${name}`,
)
const tokenId = 'c06d0789-0a38-40be-b7cc-c28a718f76f1'

let vault: TestVault
let operations: readonly Placed[]
let check: Check
let privateKey: string
let publicKey: string

beforeAll(async () => {
  vault = await openTestVault(112)
  const document = await readDocument(vault)
  operations = operationsOf(document)
  check = checkerOf(document, true)
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  privateKey = await vault.application({ type: 'private', rules })
  publicKey = await vault.application({ type: 'public', permissions: ['token:create'] })
  for (const each of Object.values(examplesOf('POST /tokens'))) await makeToken(each)
})

const found = (at: string): Placed => {
  const operation = operations.find(each => each.at === at)
  if (operation === undefined) throw new Error(`no operation ${at}`)
  return operation
}

const bodyOf = ({ operation }: Placed) => Object.entries(operation.requestBody?.content ?? {})[0]

function examplesOf(at: string): Readonly<Record<string, object>> {
  const examples = Object.entries(bodyOf(found(at))?.[1].examples ?? {})
  return Object.fromEntries(examples.map(([name, { value }]) => [name, value as object]))
}

const makeToken = async (body: object): Promise<string> => {
  const isCard = 'type' in body && body.type === 'card'
  const sent = isCard ? { id: tokenId, ...body } : body
  const made = await vault.ask('POST', '/tokens', { key: privateKey, body: sent })
  expect(made.status).toBe(201)
  return String(made.body['id'])
}

const makeApplication = async (): Promise<string> => {
  const key = await vault.application({ type: 'private', permissions: ['token:read'] })
  return String((await vault.ask('GET', '/applications/key', { key })).body['id'])
}

const makeNonce = async (): Promise<string> =>
  String((await vault.ask('POST', '/sessions', { key: publicKey })).body['nonce'])

const keyFor = ({ at, path }: Placed): string => {
  if (at === 'POST /sessions') return publicKey
  const parts = 'access|expressions|status|applications|tenants|permissions|logs|webhooks|events'
  const isManaged = new RegExp(`^/(?:${parts}|sessions$|sessions/\\{id\\})`)
  return isManaged.test(path) ? vault.managementKey : privateKey
}

const makeSession = async (): Promise<string> =>
  String((await vault.ask('POST', '/sessions', { key: publicKey })).body['id'])

async function idFor({ path }: Placed): Promise<string> {
  if (path.startsWith('/logs')) return String(await signLog(vault))
  if (path.startsWith('/sessions')) return makeSession()
  if (path.startsWith('/webhooks')) return makeWaitingWebhook(vault)
  return path.startsWith('/applications')
    ? makeApplication()
    : makeToken({ type: 'token', data: {} })
}

async function makeKey(applicationId: string): Promise<string> {
  const path = `/applications/${applicationId}/keys`
  const { body } = await vault.ask('POST', path, { key: vault.managementKey })
  return String(body['id'])
}

/** Sends a request to an operation, with an id that is there. */
async function send(placed: Placed, ask: Ask = {}, query = ''): Promise<Answer> {
  const { method, path } = placed
  const id = path.includes('{id}') ? await idFor(placed) : ''
  const keyId = path.includes('{keyId}') ? await makeKey(id) : ''
  const target = path.replace('{id}', id).replace('{keyId}', keyId).replace('{sequence}', '0')
  return vault.ask(method, target + query, { key: keyFor(placed), ...ask })
}

function expectDescribed({ at, method, path, operation }: Placed, answer: Answer): void {
  const status = String(answer.status)
  expect([at, status, answer.status < 300]).toEqual([at, status, true])
  const { content, headers = {} } = operation.responses[status] ?? {}
  for (const name of Object.keys(headers))
    expect([at, answer.headers.has(name)]).toEqual([at, true])
  if (content === undefined) return expect(answer.text).toBe('')
  const [type = ''] = Object.keys(content)
  const place = ['paths', path, method.toLowerCase(), 'responses', status, 'content', type]
  const texts = type === 'application/x-ndjson' ? answer.text.trim().split('\n') : [answer.text]
  for (const text of texts) expect(check(JSON.parse(text), ...place, 'schema')).toEqual([])
}

test('every example of a request is taken, and its answer is as described', async () => {
  const withBody = operations.filter(({ operation }) => operation.requestBody !== undefined)
  expect(withBody.length).toBeGreaterThan(8)
  for (const placed of withBody) {
    const [type] = bodyOf(placed) ?? ['']
    for (const [name, example] of Object.entries(examplesOf(placed.at))) {
      const nonce = placed.path === '/sessions/authorize' ? { nonce: await makeNonce() } : {}
      // The id of this one was taken when the tests began.
      const id = placed.at === 'POST /tokens' && name === 'person' ? { id: 'person-18' } : {}
      const application = placed.path.startsWith('/access')
        ? { application_id: await makeApplication() }
        : {}
      const body = Array.isArray(example)
        ? example
        : { ...example, ...nonce, ...id, ...application }
      const query = placed.path === '/tokenize' ? `?mode=${name}` : ''
      expectDescribed(placed, await send(placed, { type, body }, query))
    }
  }
})

test('every answer to a request without a body is as described', async () => {
  const bare = operations.filter(({ operation }) => operation.requestBody === undefined)
  expect(bare.length).toBeGreaterThan(8)
  await signLog(vault)
  for (const placed of bare) expectDescribed(placed, await send(placed))
})

test('a search and a reference find what the examples say', async () => {
  const [page, walk] = await Promise.all(
    Object.values(examplesOf('POST /tokens/search')).map(body =>
      vault.ask('POST', '/tokens/search', { key: privateKey, body }),
    ),
  )
  expect(page?.text).toContain(`"id":"${tokenId}"`)
  expect(walk?.text).toContain('"id":"person-17"')
  const references = examplesOf('POST /detokenize')['references'] ?? {}
  const answer = await vault.ask('POST', '/detokenize', { key: privateKey, body: references })
  expect(answer.body).toEqual({ name: 'Ada Lovelace', last4: '4242' })
})

test('a member that the document does not name would be found', async () => {
  const place = ['paths', '/tenants/self', 'get', 'responses', '200', 'content']
  const { body } = await vault.ask('GET', '/tenants/self', { key: vault.managementKey })
  expect(check(body, ...place, 'application/json', 'schema')).toEqual([])
  const more = { ...body, canary: 1 }
  expect(check(more, ...place, 'application/json', 'schema')).not.toEqual([])
})

// proves C2.1
test('each refusal is a problem as described', async () => {
  const problem = ['components', 'schemas', 'Problem']
  for (const placed of operations) {
    const none = await vault.ask(placed.method, placed.path.replace('{id}', 'x'))
    expect([placed.at, none.status]).toEqual([placed.at, 401])
    expect(check(none.body, ...problem)).toEqual([])
  }
  const bad = { key: privateKey, body: { type: 'card', data: { number: '1' } } }
  const refused = await vault.ask('POST', '/tokens', bad)
  expect([refused.status, check(refused.body, ...problem)]).toEqual([400, []])
})
