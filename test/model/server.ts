/**
 * The real application under the model: one store for many runs, a tenant of its own for each.
 *
 * So each run is independent of those before it, and a leak between tenants would show as well.
 * @module
 */
import { expect } from 'bun:test'
import { addTenant } from '../support/tenants.ts'
import {
  anyGuesses,
  openTestVault,
  reopenTestVault,
  type Answer,
  type TestVault,
} from '../support/vault.ts'
import type { Expected } from './access.ts'
import { sorted } from './json.ts'
import { secrets } from './samples.ts'
import { emptyModel, takeOrder, type ApplicationType, type Model } from './state.ts'

const seed = 1

export interface Server {
  /** Another one after each restart. */
  vault: TestVault
  /** Key of a tenant that has nothing to do with the one of the run. */
  readonly strangerKey: string
  readonly strangerManagementKey: string
}

export async function openServer(): Promise<Server> {
  // Rules that are provably within other grants have laws of their own: property/grant-limit.
  const settings = { ...anyGuesses, sessionGrantsWithinAuthorizer: false }
  const vault = await openTestVault(seed, settings)
  const strangerKey = await vault.application({
    type: 'private',
    rules: [
      {
        priority: 1,
        container: '/',
        transform: 'reveal',
        permissions: ['token:create', 'token:read', 'token:update', 'token:delete', 'token:search'],
      },
    ],
  })
  return { vault, strangerKey, strangerManagementKey: vault.managementKey }
}

export async function restartServer(server: Server): Promise<void> {
  server.vault = await reopenTestVault(server.vault, seed)
}

export const send = (
  { vault }: Server,
  method: string,
  path: string,
  key: string | undefined,
  body?: unknown,
): Promise<Answer> =>
  vault.ask(method, path, {
    ...(key === undefined ? {} : { key }),
    ...(body === undefined ? {} : { body }),
  })

/** A model of a new tenant: it has its first management application and nothing else. */
export async function addModelledTenant({ vault }: Server): Promise<Model> {
  const { tenantId, managementKey } = await addTenant(vault)
  const model = emptyModel(tenantId, vault.clock.now())
  const { body } = await vault.ask('GET', '/applications/key', { key: managementKey })
  model.applications.set(String(body['id']), {
    id: String(body['id']),
    key: managementKey,
    name: String(body['name']),
    type: body['type'] as ApplicationType,
    permissions: body['permissions'] as readonly string[],
    rules: [],
    createdBy: undefined,
    createdAtMs: model.nowMs,
    expiry: undefined,
    keyEndsMs: undefined,
    order: takeOrder(model),
  })
  model.keys.push(managementKey)
  return model
}

/** Equal values are equal text, and differences are lines. */
const textOf = (value: unknown): string => JSON.stringify(sorted(value), undefined, 1)

/** A failure is a problem document of its status that repeats nothing protected. */
function expectProblem(model: Model, answer: Answer): void {
  const type = answer.headers.get('content-type')
  expect(type).toBe('application/problem+json; charset=utf-8')
  expect(answer.body['status']).toBe(answer.status)
  if (answer.status === 400) {
    expect(answer.body['title']).toBe('One or more validation errors occurred.')
  }
  for (const secret of [...secrets, ...model.keys, ...model.sessions.keys()]) {
    expect(answer.text).not.toContain(secret)
  }
}

/** Compares the whole body of a success, so that nothing more is shown than is due. */
export function expectAnswer(model: Model, answer: Answer, expected: Expected): void {
  const { status, or = status } = expected
  const due = answer.status === or ? or : status
  expect(`${answer.status} ${answer.status >= 400 ? '' : answer.text}`).toStartWith(`${due} `)
  if (expected.status >= 400) expectProblem(model, answer)
  else if (expected.json === undefined) expect(answer.text).toBe('')
  else expect(textOf(JSON.parse(answer.text))).toBe(textOf(expected.json))
}
