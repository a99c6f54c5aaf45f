/**
 * A server with a webhook, work on its tokens, and what of that work arrived.
 * @module
 */
import { join } from 'node:path'
import { expect } from 'bun:test'
import { runCoffer, startCoffer, type Running } from './coffer-process.ts'
import { temporaryFolder } from './folders.ts'
import { receiverAddress, writeAuthority } from './receivers.ts'
import { until } from './until.ts'
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts'

export interface HookedServer {
  readonly data: string
  readonly receiver: WebhookReceiver
  readonly server: () => Running
  readonly address: () => string
  /** The key of its manager. */
  readonly manager: string
  /** Starts it, after the one before has ended. */
  readonly start: () => Promise<void>
  /**
   * Makes and deletes tokens, one after the other. Where an answer fails it goes on.
   * @returns what answers told, as `arrived` has it
   */
  readonly work: (name: string, isOver: () => boolean) => Promise<readonly string[]>
  /** Waits until all of it arrived. */
  readonly receive: (done: readonly string[]) => Promise<void>
  readonly end: () => Promise<void>
}

/** @param words further ones of `init` and of `serve` */
export async function openHookedServer(
  words: { readonly init?: readonly string[]; readonly serve?: readonly string[] } = {},
): Promise<HookedServer> {
  const root = temporaryFolder()
  const env = { COFFER_EGRESS_ALLOW: receiverAddress, NODE_EXTRA_CA_CERTS: writeAuthority() }
  const own = ['--data', join(root, 'data'), '--master-key-file', join(root, 'key')]
  const made = await runCoffer(['init', ...own, ...(words.init ?? []), '--json'])
  const { key: manager } = JSON.parse(made.stdout) as { readonly key: string }
  const receiver = await startWebhookReceiver()
  const serve = (): Promise<Running> =>
    startCoffer(['serve', ...own, '--port', '0', ...(words.serve ?? [])], { env })
  let server = await serve()
  // That of health and metrics comes first.
  const address = (): string => server.ready.match(/http:\/\/\S+:\d+/g)?.at(-1) ?? ''

  const ask = (key: string, method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${address()}${path}`, {
      method,
      // A worker that was killed leaves no connection behind that is used again.
      keepalive: false,
      headers: { 'svc-api-key': key, 'content-type': 'application/json', connection: 'close' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const make = async (path: string, body: unknown): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await ask(manager, 'POST', path, body)
    expect(answer.status).toBe(201)
    return (await answer.json()) as Readonly<Record<string, unknown>>
  }
  const permissions = ['token:create', 'token:delete']
  const key = String((await make('/applications', { name: 'a', type: 'private', permissions })).key)
  const url = `https://${receiverAddress}:${receiver.port}/`
  await make('/webhooks', { name: 'a', url, events: ['token.created', 'token.deleted'] })

  async function tryOne(id: string): Promise<readonly string[]> {
    const done: string[] = []
    try {
      const made = await ask(key, 'POST', '/tokens', { id, type: 'token', data: 1 })
      if (made.status === 201) done.push(`${id} token.created`)
      const gone = await ask(key, 'DELETE', `/tokens/${id}`)
      if (gone.status === 204) done.push(`${id} token.deleted`)
    } catch {}
    return done
  }

  return {
    data: join(root, 'data'),
    receiver,
    server: () => server,
    address,
    manager,
    async start() {
      server = await serve()
    },
    async work(name, isOver) {
      const done: string[] = []
      for (let count = 0; !isOver(); count += 1) done.push(...(await tryOne(`${name}-${count}`)))
      return done
    },
    async receive(done) {
      await until(() => {
        const there = new Set(receiver.messages.map(aboutOf))
        return done.every(each => there.has(each))
      })
    },
    async end() {
      expect(await server.end('SIGTERM')).toBe(0)
      receiver[Symbol.dispose]()
    },
  }
}

const aboutOf = ({ body }: WebhookReceiver['messages'][number]): string =>
  `${body.data['token']?.id} ${body.type}`

/** Expects that an id has one text, and that no token went before it came. */
export function expectOrder({ messages }: WebhookReceiver): void {
  const texts = new Map<string, string>()
  const seen = new Set<string>()
  for (const message of messages) {
    const about = aboutOf(message)
    expect(texts.get(message.id) ?? about).toBe(about)
    texts.set(message.id, about)
    const created = about.replace('token.deleted', 'token.created')
    if (about !== created) expect([about, seen.has(created)]).toEqual([about, true])
    seen.add(about)
  }
}
