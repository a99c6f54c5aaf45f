/**
 * A steady mixed load: tokens expire or are deleted as fast as new ones are created.
 *
 * Every request names its expected answer; any other one fails the run. Idempotency keys are not
 * used: the vault keeps such replies for 24 hours, by design.
 * @module
 */
import {
  openConnection,
  type Connection,
  type Question,
  type Target,
} from '../../test/support/connection.ts'

export interface Keys {
  readonly management: string
  /** Key of a private application that may do everything with tokens. */
  readonly private: string
  readonly public: string
}

export interface Load {
  readonly target: Target
  readonly keys: Keys
  readonly requestsPerSecond: number
  /** Lifetime of created tokens. */
  readonly lifetimeMs: number
}

export interface Tally {
  requests: number
  /** Counts of unexpected answers, by request. */
  readonly failures: Map<string, number>
}

interface Live {
  readonly id: string
  readonly expiresAtMs: number
}

/** One of the load's workers: its tokens are its own, so it knows their required state. */
interface Worker {
  readonly load: Load
  readonly name: string
  /** Its live tokens, the earliest to expire first. */
  readonly live: Live[]
  count: number
  /** Sends a request that must be answered with this status; returns the parsed body. */
  readonly ask: (
    status: number,
    method: string,
    path: string,
    question: Question,
  ) => Promise<Readonly<Record<string, unknown>>>
}

const workerCount = 16
const textCharsEnd = 400
/** A token is not used any more this shortly before it expires. */
const marginMs = 3_000

/** Random lengths: with lengths in turn, all rows would grow and shrink together, every 80 s. */
const anyText = (letter: string): string => letter.repeat(Math.floor(Math.random() * textCharsEnd))

const soon = (ms: number): string => new Date(Date.now() + ms).toISOString()

/** Returns a random token of its own; `undefined` if none will live long enough. */
function pickToken({ live }: Worker): Live | undefined {
  const afterMs = Date.now() + marginMs
  while (live[0] !== undefined && live[0].expiresAtMs < afterMs) live.shift()
  return live[Math.floor(Math.random() * live.length)]
}

async function createToken(worker: Worker): Promise<void> {
  const { load, live, ask } = worker
  const count = (worker.count += 1)
  const id = `soak-${worker.name}-${count}`
  const expiresAtMs = Date.now() + load.lifetimeMs
  const body = {
    id,
    type: 'token',
    data: { count, text: anyText('x') },
    metadata: { shelf: `${worker.name}-${count % 50}` },
    search_indexes: ['{{ data.count }}'],
    expires_at: new Date(expiresAtMs).toISOString(),
  }
  await ask(201, 'POST', '/tokens', { key: load.keys.private, body })
  live.push({ id, expiresAtMs })
}

async function createEqualToken({ load, count, ask }: Worker): Promise<void> {
  const body = {
    type: 'token',
    data: { equal: count % 20, hour: new Date().getUTCHours() },
    deduplicate_token: true,
    expires_at: soon(load.lifetimeMs),
  }
  await ask(201, 'POST', '/tokens', { key: load.keys.private, body })
}

async function tokenize({ load, ask }: Worker): Promise<void> {
  const token = { type: 'token', data: 'several', expires_at: soon(load.lifetimeMs) }
  const body = Array.from({ length: 5 }, () => token)
  await ask(200, 'POST', '/tokenize', { key: load.keys.private, body })
}

async function readToken(worker: Worker): Promise<void> {
  const token = pickToken(worker)
  if (token === undefined) return createToken(worker)
  await worker.ask(200, 'GET', `/tokens/${token.id}`, { key: worker.load.keys.private })
}

async function patchToken(worker: Worker): Promise<void> {
  const token = pickToken(worker)
  if (token === undefined) return createToken(worker)
  const body = { data: { text: anyText('y') }, metadata: { changed: 'yes' } }
  await worker.ask(200, 'PATCH', `/tokens/${token.id}`, { key: worker.load.keys.private, body })
}

async function deleteToken(worker: Worker): Promise<void> {
  const token = pickToken(worker)
  if (token === undefined) return createToken(worker)
  worker.live.splice(worker.live.indexOf(token), 1)
  const { private: key } = worker.load.keys
  await worker.ask(204, 'DELETE', `/tokens/${token.id}`, { key })
  await worker.ask(404, 'GET', `/tokens/${token.id}`, { key })
}

async function list({ load, name, count, ask }: Worker): Promise<void> {
  const query = `metadata.shelf=${name}-${count % 50}&type=token&size=20`
  await ask(200, 'GET', `/tokens?${query}`, { key: load.keys.private })
}

async function walk({ load, ask }: Worker): Promise<void> {
  await ask(200, 'GET', '/tokens?start=&size=20', { key: load.keys.private })
}

async function search({ load, name, count, ask }: Worker): Promise<void> {
  const query = `data:${count} OR (metadata.shelf:${name}-${count % 50} AND NOT data:1)`
  await ask(200, 'POST', '/tokens/search', { key: load.keys.private, body: { query, size: 10 } })
}

async function useSession({ load, count, ask }: Worker): Promise<void> {
  const { keys, lifetimeMs } = load
  const session = await ask(201, 'POST', '/sessions', { key: keys.public })
  const key = String(session['session_key'])
  const grants = { permissions: ['token:create'], expires_at: soon(lifetimeMs) }
  const body = { nonce: session['nonce'], ...grants }
  await ask(200, 'POST', '/sessions/authorize', { key: keys.private, body })
  await ask(409, 'POST', '/sessions/authorize', { key: keys.private, body })
  const token = { type: 'token', data: count, expires_at: soon(lifetimeMs) }
  await ask(201, 'POST', '/tokens', { key, body: token })
}

async function useApplication({ load, ask }: Worker): Promise<void> {
  const { management: key } = load.keys
  const body = { name: 'for a moment', type: 'private', permissions: ['token:read'] }
  const made = await ask(201, 'POST', '/applications', { key, body })
  const path = `/applications/${String(made['id'])}`
  const renewed = await ask(200, 'POST', `${path}/regenerate`, { key })
  await ask(401, 'GET', '/applications/key', { key: String(made['key']) })
  await ask(200, 'GET', '/applications/key', { key: String(renewed['key']) })
  await ask(204, 'DELETE', path, { key })
}

async function beRefused({ load, count, ask }: Worker): Promise<void> {
  const { private: key, public: narrow } = load.keys
  const body = { type: 'token', data: 1 }
  await ask(401, 'GET', '/tokens', { key: `key_${count}` })
  await ask(400, 'POST', '/tokens', { key, body: { type: 'nothing', data: { count } } })
  await ask(415, 'POST', '/tokens', { key, body, type: 'text/plain' })
  await ask(403, 'GET', '/tokens', { key: narrow })
  await ask(404, 'GET', `/tokens/absent-${count}`, { key })
}

/** Weights of the kinds of requests in the load. */
const kinds: readonly (readonly [number, (worker: Worker) => Promise<void>])[] = [
  [30, createToken],
  [30, readToken],
  [12, patchToken],
  [5, deleteToken],
  [3, createEqualToken],
  [1, tokenize],
  [5, list],
  [2, walk],
  [4, search],
  [3, useSession],
  [0.5, useApplication],
  [1.5, beRefused],
]

const weights = kinds.reduce((sum, [weight]) => sum + weight, 0)

function drawKind(): (worker: Worker) => Promise<void> {
  let left = Math.random() * weights
  for (const [weight, kind] of kinds) if ((left -= weight) < 0) return kind
  return readToken
}

/** Each request waits for its slot, so that all workers together keep the rate. */
function pacedAsk(load: Load, tally: Tally, connection: Connection): Worker['ask'] {
  const intervalMs = (workerCount * 1_000) / load.requestsPerSecond
  let turnMs = performance.now() + Math.random() * intervalMs
  return async (status, method, path, question) => {
    const waitMs = turnMs - performance.now()
    if (waitMs > 0) await Bun.sleep(waitMs)
    turnMs = Math.max(turnMs, performance.now() - intervalMs) + intervalMs
    const answer = await connection.ask(method, path, question)
    tally.requests += 1
    if (answer.status !== status) {
      const [place] = path.split('?')
      const what = `${method} ${place?.split('/')[1]}: ${answer.status} in place of ${status}`
      tally.failures.set(what, (tally.failures.get(what) ?? 0) + 1)
    }
    return answer.text === '' ? {} : JSON.parse(answer.text)
  }
}

/** Works until `untilMs`, by `performance.now`. @throws Error when the server ends meanwhile */
export async function runLoad(load: Load, tally: Tally, untilMs: number): Promise<void> {
  const work = async (name: string): Promise<void> => {
    const connection = await openConnection(load.target)
    const ask = pacedAsk(load, tally, connection)
    const worker: Worker = { load, name, live: [], count: 0, ask }
    while (performance.now() < untilMs) await drawKind()(worker)
    connection.close()
  }
  await Promise.all(Array.from({ length: workerCount }, (_, index) => work(String(index))))
}
