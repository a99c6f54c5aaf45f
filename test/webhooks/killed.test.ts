/**
 * A server that is killed while it delivers: each event arrives at least once, and those of one
 * token in their order.
 * @module
 */
import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { authority, receiverAddress } from '../support/receivers.ts'
import { until } from '../support/until.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

const kills = Number(process.env['COFFER_HOOK_KILLS'] ?? 3)
const env = { COFFER_EGRESS_ALLOW: receiverAddress, NODE_EXTRA_CA_CERTS: authority.cert }

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

const ask = (server: Running, key: string, { method, path, body }: Asked): Promise<Response> =>
  fetch(`${/http\S+/.exec(server.ready)?.[0] ?? ''}${path}`, {
    method,
    headers: { 'svc-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

/** Makes and deletes tokens until the server is gone. @returns those of which an answer came */
async function work(server: Running, key: string, run: number): Promise<string[]> {
  const done: string[] = []
  for (let count = 0; ; count += 1) {
    const id = `run-${run}-${count}`
    try {
      const body = { id, type: 'token', data: 1 }
      const made = await ask(server, key, { method: 'POST', path: '/tokens', body })
      if (made.status === 201) done.push(`${id} token.created`)
      const gone = await ask(server, key, { method: 'DELETE', path: `/tokens/${id}` })
      if (gone.status === 204) done.push(`${id} token.deleted`)
    } catch {
      return done
    }
  }
}

// proves C18.4
test('no event is lost, and none overtakes another of its token', async () => {
  const data = join(temporaryFolder(), 'data')
  const init = await runCoffer(['init', '--data', data])
  const manager = /key_\w+/.exec(init.stdout)?.[0] ?? ''
  using receiver = await startWebhookReceiver()
  const serve = (): Promise<Running> =>
    startCoffer(['serve', '--data', data, '--port', '0'], { env })
  let server = await serve()
  const permissions = ['token:create', 'token:delete']
  const application = { name: 'a', type: 'private', permissions }
  const post = async (path: string, body: unknown) =>
    (await (await ask(server, manager, { method: 'POST', path, body })).json()) as {
      readonly key: string
    }
  const { key } = await post('/applications', application)
  const url = `https://${receiverAddress}:${receiver.port}/`
  const events = ['token.created', 'token.deleted']
  expect(await post('/webhooks', { name: 'a', url, events })).toMatchObject({ status: 'enabled' })
  const expected: string[] = []
  for (let run = 0; run < kills; run += 1) {
    const before = receiver.messages.length
    const working = [work(server, key, run * 2), work(server, key, run * 2 + 1)]
    await until(() => receiver.messages.length >= before + 20)
    await server.end('SIGKILL')
    expected.push(...(await Promise.all(working)).flat())
    server = await serve()
  }
  const arrived = () =>
    new Set(receiver.messages.map(({ body }) => `${body.data['token']?.id} ${body.type}`))
  await until(() => {
    const there = arrived()
    return expected.every(each => there.has(each))
  })
  expect(await server.end('SIGTERM')).toBe(0)
  const texts = new Map<string, string>()
  const seen = new Set<string>()
  for (const { id, body } of receiver.messages) {
    const about = `${body.data['token']?.id} ${body.type}`
    expect(texts.get(id) ?? about).toBe(about)
    texts.set(id, about)
    const created = `${body.data['token']?.id} token.created`
    if (body.type === 'token.deleted') expect(seen.has(created)).toBe(true)
    seen.add(about)
  }
  rmSync(data, { recursive: true })
})
