/**
 * Checks tokens against what was promised. Runs after a restart, before anything is written: the
 * ledger takes over each state that it finds.
 * @module
 */
import { clockLeaseMs } from '../../../src/limits/operation-limits.ts'
import { parseBody, send, type Client } from './client.ts'
import {
  addToken,
  releaseToken,
  report,
  type EqualValue,
  type Ledger,
  type Replay,
  type SharedToken,
  type Token,
} from './ledger.ts'
import { judge, settle, type Version } from './register.ts'
import { readWritten, types, type Shown } from './values.ts'
import { equalBody } from './work-shared.ts'
import { onceQuestion } from './work-tokens.ts'

/** Rounds that a value stays before its token is deleted. */
const equalRoundsMax = 3

interface List {
  readonly pagination: { readonly total_items: number }
  readonly data: readonly Shown[]
}

function expectThat(ledger: Ledger, holds: boolean, what: string): void {
  ledger.checked += 1
  if (!holds) report(ledger, 'wrong answer', what)
}

/** Compares the found token with the ledger, which takes over its state. */
export function observe(ledger: Ledger, token: Token, shown: Shown | undefined): void {
  const { id, register, type } = token
  ledger.checked += 1
  const written = shown === undefined ? undefined : readWritten(type, shown)
  if (shown !== undefined && written === undefined) {
    report(ledger, 'half-applied', `token ${id} is none that was written`)
    return
  }
  const observed: Version = written?.op
  const verdict = judge(register, observed)
  if (verdict !== undefined) {
    const { acknowledged, pending } = register
    const promised = `${acknowledged}, begun ${pending.join(', ')}`
    report(ledger, verdict, `token ${id}: acknowledged ${promised}, found ${observed}`)
  }
  settle(register, observed)
  if (written !== undefined) token.round = written.round
}

/** An expired token is gone, whatever was acknowledged. */
function expire(token: Token): void {
  settle(token.register, undefined)
  token.expiresAtMs = undefined
}

/**
 * A token that expires during the request may be shown or not. The same holds for one that expires
 * within the lease of the server's clock, which a kill moves ahead.
 */
export async function checkToken(client: Client, token: Token): Promise<void> {
  const { ledger, keys, connection } = client
  const sentAtMs = Date.now()
  const path = `/tokens/${encodeURIComponent(token.id)}`
  const answer = await connection.ask('GET', path, { key: keys.private })
  const endMs = token.expiresAtMs ?? Infinity
  const isOver = sentAtMs >= endMs
  const mayBeOver = Date.now() >= endMs - clockLeaseMs
  expectThat(ledger, [200, 404].includes(answer.status), `GET ${path}: ${answer.status}`)
  if (isOver && answer.status !== 404) report(ledger, 'ghost', `token ${token.id} is over`)
  if (isOver || (mayBeOver && answer.status === 404)) expire(token)
  else observe(ledger, token, answer.status === 200 ? parseBody<Shown>(answer) : undefined)
  if (token.isHeld) releaseToken(ledger, token)
}

/** Takes the tokens that have expired since the last check, to look for them once more. */
export function takeOver(ledger: Ledger): Token[] {
  const nowMs = Date.now()
  const isOver = ({ expiresAtMs = Infinity }: Token): boolean => expiresAtMs <= nowMs
  const over = ledger.brief.filter(isOver)
  const brief = ledger.brief.filter(token => !isOver(token))
  ledger.brief.splice(0, Infinity, ...brief)
  for (const token of over) token.isHeld = true
  return over
}

/** Once its tokens are checked, each group exists as a whole or not at all. */
export function checkGroups(ledger: Ledger): void {
  for (const group of ledger.groups) {
    const standing = group.filter(({ register }) => register.acknowledged !== undefined).length
    ledger.checked += 1
    if (standing === 0 || standing === group.length) continue
    report(ledger, 'half-applied', `${standing} of ${group.length} tokens of one request`)
  }
  ledger.groups.clear()
}

/** A create whose answer was lost may have made a token; its id is learnt here. */
export async function checkNameless(client: Client, op: number): Promise<void> {
  const { ledger, keys, connection } = client
  ledger.nameless.delete(op)
  const path = `/tokens?metadata.op=${op}`
  const list = parseBody<List>(await connection.ask('GET', path, { key: keys.private }))
  expectThat(ledger, list.data.length <= 1, `${list.data.length} tokens of one create`)
  for (const shown of list.data) {
    const written = types.map(type => readWritten(type, shown)).find(found => found?.op === op)
    const token = addToken(ledger, shown.id, written?.type ?? 'token')
    token.register.pending.push(op)
    observe(ledger, token, shown)
    releaseToken(ledger, token)
  }
}

/** Both members of a writer come from one operation: its last one, or an unanswered one. */
export async function checkShared(client: Client, { id, writers }: SharedToken): Promise<void> {
  const { ledger, keys, connection } = client
  const answer = await connection.ask('GET', `/tokens/${id}`, { key: keys.private })
  expectThat(ledger, answer.status === 200, `GET ${id}: ${answer.status}`)
  if (answer.status !== 200) return
  const { data, metadata = {} } = parseBody<Shown>(answer)
  const members = (data ?? {}) as Readonly<Record<string, number>>
  for (const [name, register] of writers) {
    const observed: Version = members[name]
    ledger.checked += 1
    if (metadata[name] !== (observed === undefined ? undefined : String(observed))) {
      report(ledger, 'half-applied', `member ${name} of ${id}`)
    }
    const verdict = judge(register, observed)
    if (verdict !== undefined) report(ledger, verdict, `member ${name} of ${id}`)
    settle(register, observed)
  }
}

/** Creating the same value again returns the same token, and only one exists. */
export async function checkEqual(client: Client, equal: EqualValue): Promise<void> {
  const { ledger, keys, connection } = client
  const { private: key } = keys
  const { value, round, id } = equal
  const body = equalBody(equal)
  const answer = await send(client, {
    method: 'POST',
    path: '/tokens',
    question: { key, body },
    status: 201,
  })
  const made = parseBody<Shown & { _extras?: { deduplicated?: boolean } }>(answer)
  if (id !== undefined) {
    const isSame = made.id === id && made._extras?.deduplicated === true
    expectThat(ledger, isSame, `the value ${value} gave another token`)
  }
  equal.id = made.id
  const path = `/tokens?metadata.equal=${value}`
  const { pagination } = parseBody<List>(await connection.ask('GET', path, { key }))
  expectThat(ledger, pagination.total_items === 1, `${pagination.total_items} of value ${value}`)
  if (ledger.round - round < equalRoundsMax) return
  ledger.equals.delete(value)
  const token = { method: 'DELETE', path: `/tokens/${made.id}`, question: { key } }
  await send(client, { ...token, status: 204 })
  await send(client, { ...token, method: 'GET', status: 404 })
}

/** A create sent again returns the token of the first try, and makes no second one. */
export async function checkReplay(client: Client, replay: Replay): Promise<void> {
  const { ledger, keys, connection } = client
  const { op, id } = replay
  const question = onceQuestion(client, replay)
  const request = { method: 'POST', path: '/tokens', question }
  const answer = await send(client, { ...request, status: 201 })
  if (answer.status !== 201) {
    ledger.replays.push(replay)
    return
  }
  const made = parseBody<Shown>(answer).id
  expectThat(ledger, id === undefined || id === made, `the key once-${op} made another token`)
  const asked = { key: keys.private }
  const list = await connection.ask('GET', `/tokens?metadata.once=${op}`, asked)
  const { total_items: total } = parseBody<List>(list).pagination
  expectThat(ledger, total === 1, `${total} tokens of the key once-${op}`)
  const token = { method: 'DELETE', path: `/tokens/${made}`, question: asked }
  await send(client, { ...token, status: 204 })
  await send(client, { ...request, status: 404 })
}
