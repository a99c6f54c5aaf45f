/**
 * Work of clients with tokens of their own: one client at a time holds each.
 * @module
 */
import { clockLeaseMs } from '../../../src/limits/operation-limits.ts'
import type { Question } from '../../support/connection.ts'
import { pick } from '../draw.ts'
import { isRefusal, parseBody, send, write, type Client } from './client.ts'
import {
  addToken,
  countAcknowledged,
  releaseToken,
  report,
  takeOp,
  takeToken,
  type Replay,
  type Token,
} from './ledger.ts'
import { acknowledge, begin, refuse } from './register.ts'
import { dataOf, metadataOf, readWritten, types, type Shown, type TokenType } from './values.ts'

const groupSize = 20
/** One in so many creates uses the id of a token that is gone. */
const reuseEvery = 10
/** Round of tokens that expire, so that the others of a round can be counted without them. */
const noRound = 0
/** After a kill the server's clock may be ahead by its lease. */
const briefMsMin = clockLeaseMs + 2_250
const briefMsMax = briefMsMin + 2_500

const drawType = ({ draw }: Client): TokenType => pick(draw, types) ?? 'token'

/** Body of the create of one version of a token. */
export function bodyOf(token: Pick<Token, 'id' | 'type'>, op: number, round: number) {
  const { id, type } = token
  const written = { id, type, op, round }
  const search = type === 'token' ? { search_indexes: ['{{ data.op }}'] } : {}
  return { id, type, data: dataOf(written), metadata: metadataOf(written), ...search }
}

/** Returns a token to create: mostly a new one, else one that was deleted or refused. */
function newToken(client: Client): Token {
  const { ledger, draw } = client
  const again = draw(reuseEvery) === 0 ? takeToken(ledger, draw, ledger.gone) : undefined
  if (again === undefined) return addToken(ledger, `k${takeOp(ledger)}`, drawType(client))
  again.expiresAtMs = undefined
  return again
}

/** @param more members of the body @param key of the caller */
async function create(
  client: Client,
  token: Token,
  { kind = 'create', key = client.keys.private, more = {} },
): Promise<void> {
  const { ledger } = client
  const op = takeOp(ledger)
  const round = token.expiresAtMs === undefined ? ledger.round : noRound
  const question = { key, body: { ...bodyOf(token, op, round), ...more } }
  // On a busy machine the request may arrive after the expiry, and is then refused.
  const isExcused = (status: number) =>
    status === 400 && token.expiresAtMs !== undefined && Date.now() >= token.expiresAtMs
  const request = { method: 'POST', path: '/tokens', question, status: 201, isExcused }
  await write(client, { kind, register: token.register, version: op }, request)
  if (token.register.acknowledged === op) token.round = round
  releaseToken(ledger, token)
}

export const createToken = (client: Client): Promise<void> => create(client, newToken(client), {})

/** Creates a token with the key of a session. */
export const createAs = (client: Client, key: string): Promise<void> =>
  create(client, newToken(client), { key, kind: 'create by a session' })

/** Creates a token that expires soon, so that kills hit sweeps. */
export async function createBrief(client: Client): Promise<void> {
  const token = addToken(client.ledger, `b${takeOp(client.ledger)}`, drawType(client))
  const ms = briefMsMin + client.draw(briefMsMax - briefMsMin)
  token.expiresAtMs = Date.now() + ms
  const more = { expires_at: new Date(token.expiresAtMs).toISOString() }
  await create(client, token, { kind: 'create with an expiry', more })
}

export const onceQuestion = ({ keys }: Client, { op }: Replay): Question => ({
  key: keys.private,
  headers: { 'svc-idempotency-key': `once-${op}` },
  body: { type: 'token', data: { once: op }, metadata: { once: String(op) } },
})

/** The checks send the request again, whether it was answered or not. */
export async function createOnce(client: Client): Promise<void> {
  const { ledger } = client
  const replay: Replay = { op: takeOp(ledger) }
  ledger.replays.push(replay)
  const question = onceQuestion(client, replay)
  const answer = await send(client, { method: 'POST', path: '/tokens', question, status: 201 })
  if (answer.status !== 201) return
  countAcknowledged(ledger, 'create with an idempotency key')
  replay.id = parseBody<Shown>(answer).id
}

/** The vault chooses the id, which nobody learns if the answer is lost. */
export async function createNameless(client: Client): Promise<void> {
  const { ledger, keys } = client
  const type = drawType(client)
  const op = takeOp(ledger)
  const { round } = ledger
  // The checksum covers the id, and there is none yet.
  const { id: _, ...body } = bodyOf({ id: '', type }, op, round)
  ledger.nameless.add(op)
  const question = { key: keys.private, body }
  const answer = await send(client, { method: 'POST', path: '/tokens', question, status: 201 })
  if (answer.status === 201 || isRefusal(answer.status)) ledger.nameless.delete(op)
  if (answer.status !== 201) return
  countAcknowledged(ledger, 'create without an id')
  const token = addToken(ledger, parseBody<Shown>(answer).id, type)
  acknowledge(token.register, op)
  releaseToken(ledger, token)
}

/** Sends one request that makes all of its tokens or none. */
export async function createGroup(client: Client): Promise<void> {
  const { ledger, keys } = client
  const group = Array.from({ length: groupSize }, () =>
    addToken(ledger, `k${takeOp(ledger)}`, drawType(client)),
  )
  ledger.groups.add(group)
  const versions = group.map(() => takeOp(ledger))
  group.forEach(({ register }, at) => begin(register, versions[at]))
  const body = group.map((token, at) => bodyOf(token, versions[at] ?? 0, ledger.round))
  const question = { key: keys.private, body }
  const answer = await send(client, { method: 'POST', path: '/tokenize', question, status: 200 })
  if (answer.status !== 200) {
    if (isRefusal(answer.status)) refuseGroup(client, group, versions)
    return
  }
  ledger.groups.delete(group)
  group.forEach(({ register }, at) => acknowledge(register, versions[at]))
  countAcknowledged(ledger, 'items in bulk', groupSize)
  for (const token of group) releaseToken(ledger, token)
}

function refuseGroup(
  { ledger }: Client,
  group: readonly Token[],
  versions: readonly number[],
): void {
  ledger.groups.delete(group)
  group.forEach(({ register }, at) => refuse(register, versions[at]))
  for (const token of group) releaseToken(ledger, token)
}

export async function patchToken(client: Client): Promise<void> {
  const { ledger, draw, keys } = client
  const token = takeToken(ledger, draw, ledger.live)
  if (token === undefined) return createToken(client)
  const op = takeOp(ledger)
  const { data, metadata } = bodyOf(token, op, ledger.round)
  const question = { key: keys.private, body: { data, metadata } }
  const request = { method: 'PATCH', path: `/tokens/${token.id}`, question, status: 200 }
  await write(client, { kind: 'update', register: token.register, version: op }, request)
  if (token.register.acknowledged === op) token.round = ledger.round
  releaseToken(ledger, token)
}

export async function deleteToken(client: Client): Promise<void> {
  const { ledger, draw, keys } = client
  const token = takeToken(ledger, draw, ledger.live)
  if (token === undefined) return createToken(client)
  const question = { key: keys.private }
  const request = { method: 'DELETE', path: `/tokens/${token.id}`, question, status: 204 }
  const effect = { kind: 'delete', register: token.register, version: undefined }
  await write(client, effect, request)
  releaseToken(ledger, token)
}

/** The next request reads an acknowledged write, even while others write. */
export async function readToken(client: Client): Promise<void> {
  const { ledger, draw, keys } = client
  const token = takeToken(ledger, draw, ledger.live)
  if (token === undefined) return createToken(client)
  const path = `/tokens/${token.id}`
  const answer = await send(client, {
    method: 'GET',
    path,
    question: { key: keys.private },
    status: 200,
  })
  ledger.checked += 1
  const written = answer.status === 200 ? readWritten(token.type, parseBody(answer)) : undefined
  if (answer.status < 500 && written?.op !== token.register.acknowledged)
    report(ledger, 'lost', `${path}, as it was read`)
  releaseToken(ledger, token)
}

/** Each of these would leave a visible change if it were not refused. */
const refusals = [
  { pool: 'live', method: 'POST', status: 409, spoil: {} },
  { pool: 'live', method: 'PATCH', status: 400, spoil: { data: null } },
  { pool: 'gone', method: 'POST', status: 400, spoil: { type: 'nothing' } },
  { pool: 'gone', method: 'POST', status: 401, spoil: {} },
  { pool: 'gone', method: 'PATCH', status: 404, spoil: {} },
] as const

export async function beRefused(client: Client): Promise<void> {
  const { ledger, draw, keys } = client
  const { pool, method, status, spoil } = pick(draw, refusals) ?? refusals[0]
  const token = takeToken(ledger, draw, ledger[pool])
  if (token === undefined) return createToken(client)
  const op = takeOp(ledger)
  const question = {
    key: status === 401 ? `key_${op}` : keys.private,
    body: { ...bodyOf(token, op, ledger.round), ...spoil },
  }
  const path = method === 'POST' ? '/tokens' : `/tokens/${token.id}`
  const effect = { kind: 'nothing', register: token.register, version: op }
  await write(client, effect, { method, path, question, status })
  releaseToken(ledger, token)
}
