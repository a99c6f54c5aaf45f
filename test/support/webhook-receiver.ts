/**
 * A receiver of webhooks: HTTPS on the address of `receivers.ts`, which keeps what came.
 * @module
 */
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { certificates, receiverAddress, receiverName } from './receivers.ts'

export interface Message {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly body: {
    readonly type: string
    readonly timestamp: string
    readonly data: Readonly<Record<string, { readonly id: string; readonly type?: string }>>
    readonly event: Readonly<Record<string, unknown>>
    readonly delivered_at: string
  }
}

type Answer = (message: Message, response: ServerResponse) => void

export interface WebhookReceiver {
  readonly port: number
  readonly url: string
  readonly messages: Message[]
  /** Decides each answer from now on; 204 at first. */
  answer: Answer
  /** Number of requests that it answers at the same time, at most, so far. */
  readonly together: () => number
  readonly [Symbol.dispose]: () => void
}

async function read(request: IncomingMessage): Promise<Message> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  )
  return { id: headers['webhook-id'] ?? '', headers, text, body: JSON.parse(text) }
}

/** Ids of the things that its messages are about, in their order; and the types of these. */
export const idsOf = ({ messages }: WebhookReceiver): unknown[] =>
  messages.map(({ body }) => (body.data['token'] ?? body.data['application'])?.id)
export const typesOf = ({ messages }: WebhookReceiver): string[] =>
  messages.map(({ body }) => body.type)

export const accept: Answer = (_, response) => response.writeHead(204).end()
export const answerWith =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_, response) =>
    response.writeHead(status, headers).end()

export async function startWebhookReceiver(port = 0): Promise<WebhookReceiver> {
  const messages: Message[] = []
  let [now, most] = [0, 0]
  const { cert, key } = certificates.right
  const server = createServer({ cert, key }, async (request, response) => {
    now += 1
    most = Math.max(most, now)
    response.on('close', () => {
      now -= 1
    })
    const message = await read(request).catch(() => undefined)
    // Its sender has ended.
    if (message === undefined) return
    messages.push(message)
    receiver.answer(message, response)
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, receiverAddress, resolve)
  })
  const listening = (server.address() as AddressInfo).port
  const receiver: WebhookReceiver = {
    port: listening,
    url: `https://${receiverName}:${listening}/hooks?key=of-the-receiver`,
    messages,
    answer: accept,
    together: () => most,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
  return receiver
}

/** As a receiver verifies, whose clock is that of the vault. @throws if the signature is wrong */
export function verified(secret: string, { headers, text }: Message): unknown {
  const timestamp = Number(headers['webhook-timestamp'])
  const signed = new Webhook(secret).sign(
    headers['webhook-id'] ?? '',
    new Date(timestamp * 1_000),
    text,
  )
  const given = (headers['webhook-signature'] ?? '').split(' ')
  if (!given.includes(signed)) throw new Error('no signature of that secret')
  return JSON.parse(text)
}
