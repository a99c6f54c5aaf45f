/**
 * A stopped vault with tokens of several kinds, and its answers: the reference for damaged copies.
 * @module
 */
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../../support/coffer-process.ts'

const tokens = 300
const bulkTokens = 100
/** These leave free pages, as in any vault in use. */
const deletedTokens = 60
const changedTokens = 40
/** Longer than any answer takes under the load here: a server that takes longer hangs. */
const answerMsMax = 30_000
const permissions = ['create', 'read', 'search', 'update', 'delete'].map(what => `token:${what}`)

/** One request and its expected answer text. */
export interface Question {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly text: string
  readonly isList?: true
}

export interface StoredVault {
  readonly data: string
  /** Key of an application with every token permission. */
  readonly key: string
  readonly questions: readonly Question[]
  /** Each token as it appears in lists. */
  readonly elements: ReadonlySet<string>
}

export interface Target {
  readonly socket: string
  readonly key: string
}

/** @throws Error if the connection broke, or no answer came in time */
export function ask(
  { socket, key }: Target,
  { method, path, body }: Pick<Question, 'method' | 'path' | 'body'>,
): Promise<Response> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  return fetch(`http://localhost${path}`, {
    method,
    headers: { 'svc-api-key': key, ...(body === undefined ? {} : { 'content-type': type }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    unix: socket,
    signal: AbortSignal.timeout(answerMsMax),
  })
}

/** Returns the elements of a list. */
export function elementsOf(text: string): string[] {
  const { data } = JSON.parse(text) as { data: readonly unknown[] }
  return data.map(element => JSON.stringify(element))
}

async function expectText(target: Target, question: Omit<Question, 'text'>, status: number) {
  const response = await ask(target, question)
  const text = await response.text()
  if (response.status !== status) {
    throw new Error(`${question.method} ${question.path}: ${response.status}`)
  }
  return text
}

const cardNumbers = ['4242424242424242', '5555555555554444', '378282246310005']

function contentsOf(count: number): Record<string, unknown> {
  const metadata = { kind: `kind-${count % 5}` }
  switch (count % 6) {
    case 0:
      return {
        type: 'card',
        data: { number: cardNumbers[count % 3], expiration_month: 12, expiration_year: 2040 },
      }
    case 1:
      return { type: 'social_security_number', data: `078-05-1${String(count).padStart(3, '0')}` }
    case 2:
      return {
        type: 'token',
        data: { name: `person ${count}`, note: 'x'.repeat(count % 20 === 2 ? 9_000 : count) },
        metadata,
        containers: [`/people/${count % 3}/`],
        search_indexes: ['{{ data.name }}'],
      }
    case 3:
      return {
        type: 'bank',
        data: { routing_number: '021000021', account_number: String(10_000 + count) },
        metadata,
      }
    case 4:
      return {
        type: 'token',
        data: `value ${count}`,
        deduplicate_token: true,
        containers: ['/equal/'],
      }
    default:
      return { type: 'token', data: [count, count], expires_at: '2099-01-01T00:00:00Z' }
  }
}

const idOf = (count: number): string => `made-${String(count).padStart(4, '0')}`

async function fill(target: Target): Promise<string[]> {
  const ids = Array.from({ length: tokens + deletedTokens }, (_, count) => idOf(count))
  const create = (id: string, count: number) =>
    expectText(target, { method: 'POST', path: '/tokens', body: { id, ...contentsOf(count) } }, 201)
  // In batches, so that there are many transactions, and pages written by many of them.
  for (let from = 0; from < ids.length; from += bulkTokens / 10) {
    const some = ids.slice(from, from + bulkTokens / 10)
    await Promise.all(some.map((id, index) => create(id, from + index)))
  }
  for (const id of ids.splice(bulkTokens, deletedTokens)) {
    await expectText(target, { method: 'DELETE', path: `/tokens/${id}` }, 204)
  }
  for (const id of ids.slice(0, changedTokens)) {
    const body = { metadata: { changed: 'yes' } }
    await expectText(target, { method: 'PATCH', path: `/tokens/${id}`, body }, 200)
  }
  return ids
}

const lists: readonly Pick<Question, 'method' | 'path' | 'body'>[] = [
  ...[1, 2, 3].map(page => ({ method: 'GET', path: `/tokens?size=100&page=${page}` })),
  ...['card', 'bank', 'token', 'social_security_number'].map(type => ({
    method: 'GET',
    path: `/tokens?size=100&type=${type}`,
  })),
  { method: 'GET', path: '/tokens?size=100&metadata.kind=kind-3' },
  { method: 'GET', path: '/tokens?size=100&container=/people/' },
  { method: 'POST', path: '/tokens/search', body: { query: 'data:"person 200"' } },
  { method: 'POST', path: '/tokens/search', body: { query: 'metadata.changed:yes', size: 100 } },
]

async function makeKey(target: Target): Promise<string> {
  const rule = { priority: 1, container: '/', transform: 'reveal', permissions }
  const body = { name: 'owner', type: 'private', rules: [rule] }
  const text = await expectText(target, { method: 'POST', path: '/applications', body }, 201)
  return (JSON.parse(text) as { key: string }).key
}

async function askAll(target: Target, ids: readonly string[]): Promise<Question[]> {
  const questions: Question[] = []
  for (const id of ids) {
    const question = { method: 'GET', path: `/tokens/${id}` }
    questions.push({ ...question, text: await expectText(target, question, 200) })
  }
  for (const question of lists) {
    const text = await expectText(target, question, 200)
    questions.push({ ...question, text, isList: true })
  }
  return questions
}

export const serveArguments = (data: string, socket: string): string[] => [
  'serve',
  '--data',
  data,
  '--socket',
  socket,
]

export async function makeStoredVault(folder: string): Promise<StoredVault> {
  const data = join(folder, 'made')
  const socket = join(folder, 'made.sock')
  const made = await runCoffer(['init', '--data', data, '--json'])
  const managementKey = String((JSON.parse(made.stdout) as { key: string }).key)
  const server = await startCoffer(serveArguments(data, socket))
  const key = await makeKey({ socket, key: managementKey })
  const ids = await fill({ socket, key })
  const questions = await askAll({ socket, key }, ids)
  await server.end('SIGTERM')
  const listed = questions.filter(({ isList }) => isList).flatMap(({ text }) => elementsOf(text))
  return { data, key, questions, elements: new Set(listed) }
}
