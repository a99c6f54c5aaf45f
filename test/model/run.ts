/**
 * The beginning and the end of each run.
 * @module
 */
import { expect } from 'bun:test'
import { composeApplication } from '../../src/applications/application-service.ts'
import type { CreateApplicationBody } from '../../src/applications/schema.ts'
import { tokenPermissions } from './access.ts'
import { createApplication } from './applications.ts'
import { writeExpiry } from './instants.ts'
import type { JsonObject } from './json.ts'
import { matchingTokens, showPage } from './lists.ts'
import { expectAnswer, send, type Server } from './server.ts'
import { authorizeSession, createSession } from './sessions.ts'
import type { Grants, Model } from './state.ts'
import { createToken } from './tokens.ts'

const rule = { priority: 1, container: '/', transform: 'reveal', permissions: tokenPermissions }

const applications: readonly JsonObject[] = [
  { name: 'reveals all', type: 'private', rules: [rule] },
  {
    name: 'sees parts',
    type: 'private',
    rules: [
      { ...rule, container: '/pci/', transform: 'redact' },
      { ...rule, priority: 2, container: '/a/', transform: 'mask' },
    ],
  },
  { name: 'writes', type: 'public', permissions: ['token:create', 'token:update'] },
]

const data = { a: 'c4n4ry', b: { c: 7 } }

/** Two of equal content, one that some may know of and not see, and two that some see masked. */
const tokens: readonly JsonObject[] = [
  {
    id: 'tok-1',
    type: 'token',
    data,
    mask: { a: '{{ data.a | last4 }}' },
    containers: ['/a/b/'],
    search_indexes: ['{{ data.a }}'],
  },
  { id: 'tok-2', type: 'token', data, containers: ['/ab/'], mask: '{{ data.a }}' },
  {
    type: 'card',
    data: { number: '4242424242424242' },
    metadata: { Colour: 'Blue' },
    search_indexes: ['{{ data.number | last4 }}'],
  },
  { type: 'email', data: 'c4n4ry@navy.example', containers: ['/a/b/'] },
  {
    type: 'address',
    data: 'c4n4ry two',
    containers: ['/a/b/'],
    search_indexes: ['{{ data }}'],
  },
]

const equals = (container: string) => ({
  conditions: [{ attribute: 'container', operator: 'equals', value: container }],
})

/** Rules of a session: it sees the tokens in these containers, and none below them. */
const sessionRules: readonly JsonObject[] = [
  { priority: 1, ...equals('/a/'), transform: 'reveal', permissions: tokenPermissions },
  { priority: 2, ...equals('/ab/'), transform: 'mask', permissions: tokenPermissions },
]

const sessionMs = 23 * 60 * 60 * 1_000

async function furnishSession(model: Model, server: Server): Promise<void> {
  const [, authorizer, , creator] = model.keys
  const made = await send(server, 'POST', '/sessions', creator)
  expectAnswer(model, made, createSession(model, creator, made.body))
  const body = {
    nonce: String(made.body['nonce']),
    rules: sessionRules,
    expires_at: writeExpiry(model.instants, 'iso', model.nowMs + sessionMs),
  }
  const answer = await send(server, 'POST', '/sessions/authorize', authorizer, body)
  expectAnswer(model, answer, authorizeSession(model, authorizer, body))
}

/** Every run begins with applications that see all, see parts or create sessions, and tokens. */
export async function furnish(model: Model, server: Server): Promise<void> {
  const [managementKey] = model.keys
  for (const body of applications) {
    const answer = await send(server, 'POST', '/applications', managementKey, body)
    expectAnswer(model, answer, createApplication(model, managementKey, body, answer.body))
  }
  const key = model.keys[1]
  for (const body of tokens) {
    const answer = await send(server, 'POST', '/tokens', key, body)
    expectAnswer(model, answer, createToken(model, key, body, answer.body))
  }
  await furnishSession(model, server)
}

const auditing: Grants = {
  permissions: [],
  rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] }],
}

/** The key of an application that the model does not know, so that no command touched it. */
async function addAuditor(model: Model, { vault }: Server): Promise<string> {
  const body = { name: 'auditor', type: 'private', ...auditing } as CreateApplicationBody
  const { key, row } = composeApplication(vault.deps, model.tenantId, undefined, body)
  const outcome = await vault.deps.store.write([{ insert: row }])
  expect(outcome.ok).toBe(true)
  return key.reveal()
}

const everything = { ids: [], types: [], containers: [], fingerprints: [], metadata: [] }

/** All tokens are there in clear, in order, and no other. */
export async function expectAgreement(model: Model, server: Server): Promise<void> {
  const key = await addAuditor(model, server)
  const answer = await send(server, 'GET', '/tokens?size=100', key)
  const caller = { type: 'private', applicationId: '', behind: [], ...auditing } as const
  const all = matchingTokens(model, caller, everything)
  expectAnswer(model, answer, { status: 200, json: showPage({ page: 1, size: 100 }, all) })
}
