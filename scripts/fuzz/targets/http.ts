/**
 * Requests to the whole application: no 5xx, no mark in a refusal, each answer in the contract's
 * form.
 *
 * An input is a request as text: `METHOD target caller`, header lines, an empty line, the body. A
 * caller is one of four, or a key. `$token`, `$application`, `$webhook` and `$nonce` stand for real
 * ones.
 * @module
 */
import { hostileOf, type Written } from '../../../test/support/leaks/hostile.ts'
import { core, mark } from '../../../test/support/leaks/marks.ts'
import {
  newWebhook,
  operations,
  type Sent,
  type World,
} from '../../../test/support/leaks/requests.ts'
import type { Target } from '../engine.ts'
import { assert } from '../invariants.ts'
import { openFuzzVault, type FuzzVault } from '../vault.ts'

/** A new vault starts after that many requests, undoing what an input broke. */
const requestsPerVault = 20_000

interface Standing {
  readonly vault: FuzzVault
  /** By the name of their caller. */
  readonly keys: Readonly<Record<string, string>>
  readonly application: string
  readonly token: string
  readonly webhook: string
  nonce: string
  asked: number
}

const permissions = ['create', 'read', 'update', 'delete', 'search', 'use'].map(
  name => `token:${name}`,
)
const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]

type Made = Readonly<Record<string, string>>

async function post(vault: FuzzVault, path: string, key: string, body?: object): Promise<Made> {
  const headers = { 'svc-api-key': key, 'content-type': 'application/json' }
  const content = body === undefined ? {} : { body: JSON.stringify(body) }
  const request = new Request(`http://localhost${path}`, { method: 'POST', headers, ...content })
  const answer = await vault.handle(request)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`cannot ask ${path}: ${text}`)
  return text === '' ? {} : (JSON.parse(text) as Made)
}

let vaults = 0

async function stand(): Promise<Standing> {
  const vault = await openFuzzVault((vaults += 1))
  const management = vault.managementKey
  const backend = await post(vault, '/applications', management, {
    name: 'backend',
    type: 'private',
    rules,
  })
  const browser = await post(vault, '/applications', management, {
    name: 'browser',
    type: 'public',
    permissions: ['token:create'],
  })
  const [privateKey = '', publicKey = ''] = [backend['key'], browser['key']]
  const body = { id: 'standing', type: 'token', data: { list: [mark()] } }
  await post(vault, '/tokens', privateKey, body)
  const first = await post(vault, '/sessions', publicKey)
  await post(vault, '/sessions/authorize', privateKey, {
    nonce: first['nonce'],
    permissions,
    rules,
  })
  const { nonce = '' } = await post(vault, '/sessions', publicKey)
  const hook = await post(vault, '/webhooks', management, newWebhook())
  const session = first['session_key'] ?? ''
  return {
    vault,
    keys: { management, private: privateKey, public: publicKey, session },
    application: backend['id'] ?? '',
    token: 'standing',
    nonce,
    webhook: hook['id'] ?? '',
    asked: 0,
  }
}

let standing: Standing | undefined

async function standingVault(): Promise<Standing> {
  if (standing !== undefined && standing.asked >= requestsPerVault) {
    await standing.vault.close()
    standing = undefined
  }
  standing ??= await stand()
  standing.asked += 1
  return standing
}

function textWith(standing: Standing, text: string): string {
  const { application, token, nonce, webhook } = standing
  return text
    .replaceAll('$application', application)
    .replaceAll('$token', token)
    .replaceAll('$nonce', nonce)
    .replaceAll('$webhook', webhook)
}

/** Returns `undefined` if the platform cannot send such a request. */
function requestOf(standing: Standing, input: string): Request | undefined {
  const [head = '', ...rest] = input.split('\n\n')
  const [first = '', ...lines] = head.split('\n')
  const [method = '', target = '', caller = ''] = first.split(' ')
  const key = Object.hasOwn(standing.keys, caller) ? standing.keys[caller] : caller
  const body = textWith(standing, rest.join('\n\n'))
  try {
    const headers = new Headers({ 'svc-api-key': key ?? '' })
    for (const line of lines) {
      const colon = line.indexOf(':')
      headers.append(line.slice(0, Math.max(0, colon)), line.slice(colon + 1).trim())
    }
    return new Request(`http://localhost${textWith(standing, target)}`, {
      method,
      headers,
      ...(body === '' || method === 'GET' || method === 'HEAD' ? {} : { body }),
    })
  } catch {
    return undefined
  }
}

/** Removes the caller's trace id, which the contract repeats; in a body it is escaped as JSON. */
const withoutTrace = (text: string, trace: string | null): string =>
  trace === null || trace === ''
    ? text
    : text.replaceAll(trace, '').replaceAll(JSON.stringify(trace).slice(1, -1), '')

async function assertAnswer(request: Request, answer: Response, { vault }: Standing) {
  const { status, headers } = answer
  const text = await answer.text()
  assert(status < 500, 'no answer is a 5xx')
  assert(vault.logged.length === 0, 'nothing is logged')
  if (status < 400) return
  const type = headers.get('content-type') ?? ''
  assert(/^application\/(?:problem\+)?json/.test(type), 'a refusal is a problem')
  if (request.method === 'HEAD') return
  assert((JSON.parse(text) as { status: number }).status === status, 'a problem tells its status')
  const shown = withoutTrace(`${[...headers].join('\n')}\n${text}`, headers.get('svc-trace-id'))
  assert(!shown.toLowerCase().includes(core), 'a refusal shows no mark')
}

async function run(input: string): Promise<void> {
  const standing = await standingVault()
  const request = requestOf(standing, input)
  if (request === undefined) return
  const answer = await standing.vault.handle(request)
  if (answer.status === 200 && request.url.includes('/authorize')) {
    const { nonce = '' } = await post(standing.vault, '/sessions', standing.keys['public'] ?? '')
    standing.nonce = nonce
  }
  await assertAnswer(request, answer, standing)
}

const world: World = {
  token: () => Promise.resolve('$token'),
  application: () => Promise.resolve('$application'),
  applicationKey: () => Promise.resolve({ application: '$application', key: '$key' }),
  nonce: () => Promise.resolve('$nonce'),
  session: () => Promise.resolve('$session'),
  signedEntry: () => Promise.resolve(0),
  webhook: () => Promise.resolve('$webhook'),
  delivery: () => Promise.resolve({ webhook: '$webhook', sequence: 0 }),
}

const typeOf = ({ method }: Sent) =>
  `Content-Type: application/${method === 'PATCH' ? 'merge-patch+' : ''}json`

function goodText(sent: Sent): string {
  const { method, target, as, body, headers = {} } = sent
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const content = body === undefined ? '' : JSON.stringify(body)
  const all = body === undefined ? lines : [...lines, typeOf(sent)]
  return `${[`${method} ${target} ${as}`, ...all].join('\n')}\n\n${content}`
}

function hostileText(as: Sent['as'], { method, target, headers, body }: Written): string {
  const { 'SVC-API-KEY': _, ...rest } = headers
  const lines = Object.entries(rest).map(([name, value]) => `${name}: ${value}`)
  return `${[`${method} ${target} ${as}`, ...lines].join('\n')}\n\n${String(body)}`
}

/** Instants of good requests are ahead of the machine's clock, but not of this vault's. */
const ahead = (text: string): string =>
  text.replaceAll(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/g, '2030-01-01T20:00:00Z')

async function seedsOf(): Promise<string[]> {
  const seeds: string[] = []
  for (const { prepare } of Object.values(operations)) {
    for (const sent of await prepare(world)) {
      seeds.push(ahead(goodText(sent)))
      const hostile = hostileOf(sent, { management: '', private: '', public: '' })
      seeds.push(...[...hostile].map(each => ahead(hostileText(sent.as, each))))
    }
  }
  return seeds.filter(text => text.length < 4_000)
}

export const target: Target = {
  seeds: await seedsOf(),
  dictionary: [
    'GET',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'HEAD',
    '/tokens',
    '/applications',
    '/sessions',
    '/authorize',
    '/search',
    '/v2',
    '/tokenize',
    '/detokenize',
    '/key',
    '?',
    '&',
    '/regenerate',
    '/tenants/self',
    '/permissions',
    '/status',
    '/status/history',
    '/status/settings',
    '/expressions/preview',
    '/containers',
    '/swagger/json',
    '%',
    '%2F',
    '%zz',
    '..',
    'management',
    'private',
    'public',
    'session',
    '$token',
    '$application',
    '$nonce',
    core,
    '\n',
    '\n\n',
    'Content-Type: application/json',
    'SVC-IDEMPOTENCY-KEY: a',
    'SVC-TRACE-ID: ',
    'SVC-REASON: ',
    '?transform=mask',
    'Origin: x',
    '"id":',
    '"type":',
    '"data":',
    '"mask":',
    '"metadata":',
    '"containers":',
    '"rules":',
    '"search_indexes":',
    '"fingerprint_expression":',
    '"deduplicate_token":',
    '"expires_at":',
    '"permissions":',
    '"priority":',
    '"container":',
    '"transform":',
    '"conditions":',
    '"query":',
    '"nonce":',
    '"name":',
    '"token:read"',
    '"card"',
    '"token"',
    '"4242424242424242"',
    'null',
    '{{ data }}',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    'true',
    '-1',
    '1e400',
    '__proto__',
    '/',
    'page=',
    'size=',
    'start=',
    'id=',
    'metadata.a=',
    'mode=partial',
    'type:',
    ' AND ',
    '1',
  ],
  charsMax: 6_000,
  run,
  end: async () => standing?.vault.close(),
}
