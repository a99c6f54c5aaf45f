/**
 * Texts that are refused, one list for each reason: keys of applications, keys of sessions, ids.
 *
 * In each group, the first list never existed; the others are compared with it.
 * @module
 */
import { base58, uuidOf } from '../../src/lib/bytes.ts'
import type { Random } from '../seed/random.ts'
import type { Kind } from './measure.ts'

/** The members of a JSON answer. @throws when the answer is no success */
export type Ask = (
  method: string,
  path: string,
  key: string,
  body?: unknown,
) => Promise<Readonly<Record<string, unknown>>>

/** Lists of equal length, by their reason. */
export type Reasons = Readonly<Record<string, readonly string[]>>

export interface Refusals {
  readonly applicationKeys: Reasons
  readonly sessionKeys: Reasons
  readonly tokenIds: Reasons
  /** Key of the caller for whom some tokens are out of rule. */
  readonly readerKey: string
}

export interface World {
  readonly ask: Ask
  readonly managementKey: string
  readonly random: Random
  /** Lets that much time pass for the vault. */
  readonly letPass: (ms: number) => Promise<void>
}

/** Makes a kind for each reason, which cycles through its texts. */
export const kindsOf = (reasons: Reasons, probe: (text: string) => Promise<unknown>): Kind[] =>
  Object.entries(reasons).map(([name, made]) => {
    // All texts come from one place: engines store concatenated texts differently.
    const texts = JSON.parse(JSON.stringify(made)) as string[]
    return { name, probe: turn => probe(texts[turn % texts.length] ?? '') }
  })

/** Texts for each reason, so that no single text decides. */
const textsOfReason = 20
/** Time to make everything before the first of it expires. */
const lifetimeMs = 20_000
const restMs = 5_000

const reading = { name: 'reads', type: 'private', permissions: ['token:read'] }

async function times<T>(make: () => Promise<T>): Promise<T[]> {
  const made: T[] = []
  while (made.length < textsOfReason) made.push(await make())
  return made
}

interface Made {
  readonly id: string
  readonly key: string
}

async function makeApplication({ ask, managementKey }: World, body: object): Promise<Made> {
  const { id, key } = await ask('POST', '/applications', managementKey, body)
  return { id: String(id), key: String(key) }
}

/** Differs in the last character only. */
const nearlyLike = (key: string): string => key.slice(0, -1) + (key.endsWith('2') ? '3' : '2')

async function makeApplicationKeys(world: World, expiresAt: string): Promise<Reasons> {
  const { ask, managementKey, random } = world
  const body = () => base58(random.bytes(16))
  const applications = () => times(() => makeApplication(world, reading))
  const [live, deleted, regenerated] = [
    await applications(),
    await applications(),
    await applications(),
  ]
  const ending = await times(() => makeApplication(world, { ...reading, expires_at: expiresAt }))
  for (const { id } of deleted) await ask('DELETE', `/applications/${id}`, managementKey)
  for (const { id } of regenerated) {
    await ask('POST', `/applications/${id}/regenerate`, managementKey)
  }
  const keysOf = (made: readonly Made[]) => made.map(({ key }) => key)
  return {
    'unknown key': await times(async () => `key_${body()}`),
    'no key of ours': await times(async () => `sk1_${body()}`),
    'a live key but for its last character': keysOf(live).map(nearlyLike),
    'deleted application': keysOf(deleted),
    'regenerated key': keysOf(regenerated),
    'expired application': keysOf(ending),
  }
}

async function makeSessionKeys(world: World, expiresAt: string): Promise<Reasons> {
  const { ask, managementKey, random } = world
  const authorizer = await makeApplication(world, reading)
  const creators = { name: 'collects', type: 'public', permissions: ['token:create'] }
  const [standing, leaving] = [
    await makeApplication(world, creators),
    await makeApplication(world, creators),
  ]
  const open = async (key: string, more: object): Promise<string> => {
    const session = await ask('POST', '/sessions', key)
    const grants = { nonce: session['nonce'], permissions: ['token:read'], ...more }
    await ask('POST', '/sessions/authorize', authorizer.key, grants)
    return String(session['session_key'])
  }
  const ending = await times(() => open(standing.key, { expires_at: expiresAt }))
  const orphans = await times(() => open(leaving.key, {}))
  await ask('DELETE', `/applications/${leaving.id}`, managementKey)
  return {
    'unknown session key': await times(async () => `key_sess_${base58(random.bytes(16))}`),
    'expired session': ending,
    'session of a deleted application': orphans,
  }
}

async function makeTokenIds(world: World, writerKey: string): Promise<Reasons> {
  const { ask, random } = world
  const card = { type: 'card_number', data: '4242424242424242', containers: ['/hidden/'] }
  const make = async (more: object = {}) =>
    String((await ask('POST', '/tokens', writerKey, { ...card, ...more }))['id'])
  const ofData = (bytes: number) => make({ type: 'token', data: 'x'.repeat(bytes) })
  const pairs = Array.from({ length: 50 }, (_, index) => [`m${index}`, 'v'.repeat(500)])
  return {
    'absent token': await times(async () => uuidOf(random.bytes(16))),
    'token that no rule covers': await times(() => make()),
    'the same, with 1 kB of data': await times(() => ofData(1_000)),
    'the same, with 50 kB of data': await times(() => ofData(50_000)),
    'the same, with 500 kB of data': await times(() => ofData(500_000)),
    'the same, with 25 kB of metadata': await times(() =>
      make({ metadata: Object.fromEntries(pairs) }),
    ),
  }
}

/** Makes everything, and lets the temporary part expire. */
export async function makeRefusals(world: World, nowMs: number): Promise<Refusals> {
  const expiresAt = new Date(nowMs + lifetimeMs).toISOString()
  const permissions = ['token:create', 'token:read']
  const ruleOn = (container: string) => ({ priority: 1, container, transform: 'mask', permissions })
  const writer = { name: 'writes', type: 'private', rules: [ruleOn('/')] }
  const reader = { name: 'reads', type: 'private', rules: [ruleOn('/seen/')] }
  const writerKey = (await makeApplication(world, writer)).key
  const refusals = {
    applicationKeys: await makeApplicationKeys(world, expiresAt),
    sessionKeys: await makeSessionKeys(world, expiresAt),
    tokenIds: await makeTokenIds(world, writerKey),
    readerKey: (await makeApplication(world, reader)).key,
  }
  await world.letPass(lifetimeMs + restMs)
  return refusals
}
