/**
 * Program that uses the client, the same in every runtime: it uses nothing else of them.
 * @module
 */
import { CofferError, createClient, type Client, type ClientOptions } from 'coffer/client'
import type { Scene } from './scene.ts'

const number = '4242424242424242'
const longMs = 20_000
const shortMs = 200

/** Returns the members of a call's failure that a program looks at. */
async function failureOf(call: Promise<unknown>) {
  try {
    await call
  } catch (thrown) {
    if (!(thrown instanceof CofferError)) return { thrown: String(thrown) }
    const { name, status, code, errors, traceId } = thrown
    return { name, status, code, errors: Object.keys(errors), isTraced: traceId !== undefined }
  }
  return 'none'
}

type ClientOf = (key: string) => Client

async function store({ tokens, detokenize }: Client, { applications }: Client, of: ClientOf) {
  const desk = await applications.create({
    name: 'Support desk',
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] }],
  })
  const data = { number, holder: 'Zoë Müller 🜚' }
  const card = await tokens.create<{ number: string }>({ type: 'card', data: { number } })
  const note = await tokens.create({ type: 'token', data })
  const seen = {
    created: card.data,
    revealed: (await tokens.get(card.id)).data,
    masked: (await of(desk.key).tokens.get(card.id)).data,
    note: (await tokens.get(note.id)).data,
    used: await detokenize({ pay: `{{ ${card.id} | json: '$.number' }}` }),
  }
  await tokens.delete(card.id)
  await applications.delete(desk.id)
  return { ...seen, deleted: await failureOf(tokens.get(card.id)) }
}

/** Makes and lists 250 tokens, which are three pages of a walk. */
async function list({ tokens, tokenize }: Client) {
  const metadata = { run: crypto.randomUUID() }
  const made = Array.from({ length: 250 }, (_, data) => ({ type: 'token', data, metadata }))
  await tokenize(made)
  const listed = new Set<unknown>()
  for await (const { data } of tokens.list<number>({ metadata })) listed.add(data)
  const found = new Set<string>()
  for await (const { id } of tokens.search(`metadata.run:${metadata.run}`)) found.add(id)
  let few = 0
  for await (const _ of tokens.list({ metadata })) if ((few += 1) === 3) break
  return { listed: listed.size, found: found.size, few }
}

async function refuse(scene: Scene, { tokens }: Client) {
  const { address, keys } = scene
  const stranger = createClient({ address, key: 'key_thatNobodyEverMade' })
  const page = createClient({ address, key: keys.public })
  return {
    'wrong key': await failureOf(stranger.tokens.get('any')),
    'no right': await failureOf(page.tokens.get('any')),
    absent: await failureOf(tokens.get('absent')),
    faulty: await failureOf(tokens.create({ type: 'card', data: { number: 'none' } })),
  }
}

/** Returns the outcome of a call that is aborted after a moment, and whether it ended at once. */
async function endedIn(address: string, key: string) {
  const controller = new AbortController()
  const { tokens } = createClient({ address, key, timeoutMs: longMs })
  const start = Date.now()
  const call = failureOf(tokens.get('any', { signal: controller.signal }))
  setTimeout(() => controller.abort(new Error('the user left')), shortMs)
  const failure = await call
  return { failure, isAtOnce: Date.now() - start < longMs / 4 }
}

/** Aborts a call on a kept connection, which some runtimes take for a lost one. */
async function endedLater(address: string, key: string) {
  await createClient({ address, key }).tokens.get('kept')
  return endedIn(address, key)
}

async function giveUp({ silent, hushed, stalling, busy, keys }: Scene, { tokens }: Client) {
  const key = keys.private
  const hasty = { key, timeoutMs: shortMs, retries: 1 }
  const ended = AbortSignal.abort(new Error('never began'))
  return {
    'no answer': await failureOf(createClient({ ...hasty, address: silent }).tokens.get('any')),
    'half an answer': await failureOf(
      createClient({ ...hasty, address: stalling }).tokens.get('any'),
    ),
    'before the call': await failureOf(tokens.get('any', { signal: ended })),
    'before an answer': await endedIn(silent, key),
    'on a kept connection': await endedLater(hushed, key),
    'within an answer': await endedIn(stalling, key),
    'between attempts': await endedIn(busy, key),
  }
}

async function persist({ nobody, redirecting, lossy, keys }: Scene, { tokens }: Client) {
  const key = keys.private
  const metadata = { run: crypto.randomUUID() }
  await createClient({ address: lossy, key }).tokens.create({ type: 'token', data: 1, metadata })
  const { pagination } = await tokens.listPage({ metadata })
  const lost = createClient({ address: nobody, key, retries: 1 })
  const led = createClient({ address: redirecting, key, retries: 0 })
  return {
    created: pagination.total_items,
    nobody: await failureOf(lost.tokens.get('any')),
    redirected: await failureOf(led.tokens.get('any')),
  }
}

/**
 * Clients are made here, once, as a module makes them when it is loaded.
 * @param fetch in place of the runtime's, for requests to the vault itself
 * @returns tells the story, as often as it is asked
 */
export function makeStory(scene: Scene, fetch?: ClientOptions['fetch']) {
  const { address, keys } = scene
  const clientOf = (key: string): Client =>
    createClient({ address, key, ...(fetch === undefined ? {} : { fetch }) })
  const backend = clientOf(keys.private)
  const management = clientOf(keys.management)
  return async () => ({
    stored: await store(backend, management, clientOf),
    listed: await list(backend),
    refused: await refuse(scene, backend),
    givenUp: await giveUp(scene, backend),
    persisted: await persist(scene, backend),
  })
}
