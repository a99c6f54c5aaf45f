/**
 * The real vault under the model of the log: one store for many runs, a tenant of its own for each.
 * @module
 */
import { expect } from 'bun:test'
import { indexNext } from '../../../src/audit/search-index.ts'
import { entriesOf } from '../../support/audit-log.ts'
import { addTenant } from '../../support/tenants.ts'
import { anyGuesses, openTestVault, type Answer, type TestVault } from '../../support/vault.ts'
import { plan, type Draw, type Planned } from './requests.ts'
import { permissionsOf, rules, type CallerName, type Key, type Model } from './state.ts'

export interface Run {
  readonly vault: TestVault
  readonly model: Model
}

async function makeKeys(tenant: TestVault): Promise<Readonly<Record<CallerName, Key>>> {
  const know = async (key: string): Promise<Key> => {
    const { body } = await tenant.ask('GET', '/applications/key', { key })
    return { key, id: String(body['id']), type: String(body['type']) }
  }
  const make = async (body: object) => know(await tenant.application({ ...body }))
  const ranked = rules.map((rule, place) => ({ ...rule, priority: place + 1 }))
  return {
    full: await make({ type: 'private', permissions: permissionsOf.full }),
    ruled: await make({ type: 'private', rules: ranked }),
    reading: await make({ type: 'private', permissions: permissionsOf.reading }),
    creating: await make({ type: 'public', permissions: permissionsOf.creating }),
    manager: await know(tenant.managementKey),
  }
}

export const openVault = (): Promise<TestVault> => openTestVault(1, anyGuesses)

/** Begins a tenant whose log is asked for from now on. */
export async function beginRun(vault: TestVault): Promise<Run> {
  const tenant = await addTenant(vault)
  const keys = await makeKeys(tenant)
  await vault.deps.audit.flush()
  while (await indexNext(vault.deps));
  vault.clock.advance(20_000)
  const model: Model = {
    tenantId: tenant.tenantId,
    keys,
    keyIds: new Map(),
    entries: [],
    tokens: new Map(),
    nowMs: vault.clock.now(),
    requests: 0,
    step: 0,
    epoch: 0,
    refusedLogins: 0,
  }
  return { vault, model }
}

const nobody = 'key_1111111111111111111111'

/** No id of a tenant is in it: the digits of one may look like a card number, and be hidden. */
export const nextTrace = (model: Model): string => `trace-${(model.requests += 1)}`

function headersOf(planned: Planned, traceId: string, stated: string | undefined) {
  const reason = stated === undefined ? {} : { 'svc-reason': stated }
  return { ...planned.headers, ...reason, 'svc-trace-id': traceId }
}

/** Their entries land with what they write. */
const writes: ReadonlySet<string> = new Set([
  'createToken',
  'updateToken',
  'deleteToken',
  'tokenize',
])

async function sendPlanned(run: Run, draw: Draw, planned: Planned): Promise<void> {
  const { vault, model } = run
  const traceId = nextTrace(model)
  const { method, path, body, raw, type, status, told, complete } = planned
  const own = model.keys[draw.by].key
  const keys = { none: {}, unknown: { key: nobody } }
  const answer: Answer = await vault.ask(method, path, {
    ...(planned.key === undefined ? { key: own } : keys[planned.key]),
    ...(body === undefined ? {} : { body }),
    ...(raw === undefined ? {} : { raw }),
    ...(type === undefined ? {} : { type }),
    headers: headersOf(planned, traceId, draw.stated),
  })
  expect([draw.kind, draw.by, answer.status]).toEqual([draw.kind, draw.by, status])
  if (planned.key !== undefined) model.refusedLogins += 1
  if (told === undefined) return
  const known = complete === undefined ? told : complete(told, JSON.parse(answer.text))
  const isWrite = known.reason === undefined && writes.has(known.operation)
  // Only an admitted request has its reason told.
  const isAdmitted = status !== 403
  note(model, draw.by, traceId, {
    ...known,
    stated_reason: isAdmitted ? draw.stated : undefined,
    isAwaited: isWrite || known.transform === 'reveal',
  })
}

type Noted = Planned['told'] & { readonly isAwaited: boolean }

export function note(model: Model, by: CallerName, traceId: string, noted: Noted): void {
  const { nowMs: atMs, step, epoch } = model
  model.entries.push({ ...noted, by, traceId, atMs, step, epoch })
}

const changing = /create|repeat|patch|delete|bulk/

async function repeat(run: Run, draw: Draw): Promise<void> {
  const key = nextTrace(run.model)
  const first = { ...plan(run.model, draw), headers: { 'svc-idempotency-key': key } }
  await sendPlanned(run, draw, first)
  run.model.step += 1
  const { told } = first
  if (told === undefined || first.status !== 201) return
  // The answer is that of a reading of what was made.
  const again = { ...told, transform: 'mask', reason: 'replay' }
  await sendPlanned(run, draw, { ...first, told: again })
}

/** Sends requests: together if none of them changes what another one would see. */
export async function sendStep(run: Run, draws: readonly Draw[]): Promise<void> {
  const { model, vault } = run
  const one = (draw: Draw): Promise<void> =>
    draw.kind === 'repeat' ? repeat(run, draw) : sendPlanned(run, draw, plan(model, draw))
  if (!draws.some(({ kind }) => changing.test(kind))) await Promise.all(draws.map(one))
  else {
    for (const draw of draws) {
      await one(draw)
      model.step += 1
    }
  }
  model.step += 1
  vault.clock.advance(1_000)
  model.nowMs += 1_000
}

export async function writeAll({ vault, model }: Run): Promise<void> {
  await vault.deps.audit.flush()
  model.epoch += 1
}

/** Number of requests without a live key that the log of the installation tells. */
export async function loginsTold({ vault }: Run): Promise<number> {
  const refusals = (await entriesOf(vault)).filter(({ entry }) => entry.result === 401)
  expect(refusals.every(({ entry }) => entry.tenantId === undefined)).toBe(true)
  return refusals.reduce((sum, { entry }) => sum + (entry.count ?? 1), 0)
}
