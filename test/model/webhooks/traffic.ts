/**
 * Requests that make events, or none, and what the model learns of them.
 * @module
 */
import { expect } from 'bun:test'
import fc from 'fast-check'
import type { Key, Server } from './server.ts'
import type { EventType, Model, ModelEvent } from './state.ts'

const tokenIds = ['t-0', 't-1', 't-2', 't-3'] as const

export const requests = fc.record({
  kind: fc.constantFrom(
    'create',
    'create',
    'create',
    'repeat',
    'update',
    'update',
    'delete',
    'delete',
    'read',
    'reveal',
    'list',
    'bulk',
    'refuse',
    'make application',
    'change application',
    'delete application',
    'make key',
    'delete key',
  ),
  pick: fc.nat({ max: 11 }),
})
export type Request = typeof requests extends fc.Arbitrary<infer T> ? T : never

export const nextTrace = (model: Model): string => `trace-${(model.requests += 1)}`

interface Told {
  readonly type: EventType
  readonly subject: string
  readonly ids: readonly string[]
  readonly applicationId?: string
}

/** Adds the events of a request that succeeded. */
export function tell(model: Model, by: Key, traceId: string, told: Told): void {
  const { type, subject, ids, ...rest } = told
  ids.forEach((id, place) => {
    const actor = { id: by.id, type: by.type }
    const event: ModelEvent = {
      ...rest,
      order: model.events.length,
      place,
      atMs: model.nowMs,
      type,
      subject,
      id,
      actor,
      traceId,
      arrivedAt: new Set(),
    }
    model.events.push(event)
  })
}

interface Asked {
  readonly by: Key
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
}

async function ask(model: Model, server: Server, { by, status, ...asked }: Asked) {
  const traceId = nextTrace(model)
  const { method, path, body, headers = {} } = asked
  const traced = { ...headers, 'svc-trace-id': traceId }
  const answer = await server.send(by.key, method, path, body, traced)
  expect([method, path, answer.status]).toEqual([method, path, status])
  return { traceId, body: answer.body }
}

const permissions = ['token:read']

async function ofTokens(model: Model, server: Server, { kind, pick }: Request): Promise<void> {
  const { masking, revealing } = server.keys
  const id = tokenIds[pick % tokenIds.length] ?? tokenIds[0]
  const isThere = model.tokens.has(id)
  const path = `/tokens/${id}`
  const about = async (type: EventType, asked: Asked, ids: readonly string[] = [id]) => {
    const { traceId } = await ask(model, server, asked)
    if (asked.status < 300) tell(model, asked.by, traceId, { type, subject: 'token', ids })
  }
  if (kind === 'create' || kind === 'repeat') {
    const headers = kind === 'repeat' ? { 'svc-idempotency-key': nextTrace(model) } : {}
    const body = { id, type: 'token', data: 'planted-secret-value' }
    const asked = { by: masking, method: 'POST', path: '/tokens', body, headers }
    await about('token.created', { ...asked, status: isThere ? 409 : 201 })
    if (kind === 'repeat' && !isThere) await ask(model, server, { ...asked, status: 201 })
    model.tokens.add(id)
  } else if (kind === 'update') {
    const body = { metadata: { colour: `planted-${pick}` } }
    const status = isThere ? 200 : 404
    await about('token.updated', { by: masking, method: 'PATCH', path, body, status })
  } else if (kind === 'delete') {
    const status = isThere ? 204 : 404
    await about('token.deleted', { by: masking, method: 'DELETE', path, status })
    model.tokens.delete(id)
  } else if (kind === 'read' || kind === 'reveal') {
    const by = kind === 'read' ? masking : revealing
    const type = kind === 'read' ? 'token.read' : 'token.revealed'
    await about(type, { by, method: 'GET', path, status: isThere ? 200 : 404 })
  } else {
    const ids = [...model.tokens].filter(each => tokenIds.includes(each as 't-0')).toReversed()
    const all = { by: masking, method: 'GET', path: `/tokens?id=${tokenIds.join('&id=')}` }
    await about('token.read', { ...all, status: 200 }, ids)
  }
  // An entry that nobody awaits could come behind that of a later write.
  await server.vault().deps.audit.flush()
}

async function inBulk(model: Model, server: Server): Promise<void> {
  const { masking: by } = server.keys
  const one = { type: 'token', data: 'planted-secret-value' }
  const body = { a: one, b: [one] }
  const asked = { by, method: 'POST', path: '/tokenize', body, status: 200 }
  const made = await ask(model, server, asked)
  const { a, b } = made.body as { a: { id: string }; b: readonly { id: string }[] }
  const ids = [a.id, b[0]?.id ?? '']
  tell(model, by, made.traceId, { type: 'token.created', subject: 'token', ids })
}

async function ofApplications(model: Model, server: Server, request: Request): Promise<void> {
  const { manager: by } = server.keys
  const { kind, pick } = request
  const ids = [...model.applications.keys()]
  const id = ids[pick % Math.max(1, ids.length)]
  const path = `/applications/${id}`
  const about = (traceId: string, type: EventType, of: string | undefined) =>
    tell(model, by, traceId, { type, subject: 'application', ids: [of ?? ''] })
  if (kind === 'make application' || id === undefined) {
    const body = { name: 'planted-name', type: 'private', permissions }
    const asked = { by, method: 'POST', path: '/applications', body, status: 201 }
    const made = await ask(model, server, asked)
    model.applications.set(String(made.body['id']), [])
    about(made.traceId, 'application.created', String(made.body['id']))
  } else if (kind === 'change application') {
    const body = { name: 'planted-other', permissions }
    const { traceId } = await ask(model, server, { by, method: 'PUT', path, body, status: 200 })
    about(traceId, 'application.updated', id)
  } else if (kind === 'delete application') {
    const { traceId } = await ask(model, server, { by, method: 'DELETE', path, status: 204 })
    model.applications.delete(id)
    about(traceId, 'application.deleted', id)
  } else await ofKeys(model, server, id, kind === 'make key')
}

async function ofKeys(model: Model, server: Server, id: string, isNew: boolean): Promise<void> {
  const { manager: by } = server.keys
  const keys = model.applications.get(id) ?? []
  const path = `/applications/${id}/keys`
  const [old] = keys
  const subject = 'application_key'
  if (isNew || old === undefined) {
    // An application has at most ten keys, of which one is its first.
    const status = keys.length < 9 ? 201 : 409
    const made = await ask(model, server, { by, method: 'POST', path, status })
    if (status === 409) return
    const ids = [String(made.body['id'])]
    keys.push(...ids)
    const type = 'application.key.created'
    tell(model, by, made.traceId, { type, subject, ids, applicationId: id })
  } else {
    const asked = { by, method: 'DELETE', path: `${path}/${old}`, status: 204 }
    const { traceId } = await ask(model, server, asked)
    keys.shift()
    const type = 'application.key.deleted'
    tell(model, by, traceId, { type, subject, ids: [old], applicationId: id })
  }
}

/** A refusal is no event. */
const refuse = async (model: Model, server: Server, pick: number): Promise<void> => {
  const path = `/tokens/${tokenIds[pick % tokenIds.length]}`
  await ask(model, server, { by: server.keys.reader, method: 'GET', path, status: 403 })
}

export async function request(model: Model, server: Server, asked: Request): Promise<void> {
  if (asked.kind === 'bulk') return inBulk(model, server)
  if (asked.kind === 'refuse') return refuse(model, server, asked.pick)
  if (/application|key/.test(asked.kind)) return ofApplications(model, server, asked)
  return ofTokens(model, server, asked)
}
