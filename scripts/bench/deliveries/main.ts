/**
 * Throughput of deliveries: `bun scripts/bench/deliveries/main.ts [webhooks] [creates]`, of the
 * binary in `COFFER_BINARY`. It prints creates a second beside deliveries, how long after its entry
 * an event arrived, and deliveries a second while the last ones arrive. The receivers share the
 * processors.
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runCoffer, startCoffer } from '../../../test/support/coffer-process.ts'
import {
  authority,
  certificates,
  receiverAddress,
  writeAuthority,
} from '../../../test/support/receivers.ts'

const receiverProgram = resolve(import.meta.dir, 'receiver.ts')
const clients = 32
const lookMs = 20

interface Figures {
  readonly count: number
  readonly p50Ms: number
}

interface Receiver {
  readonly url: string
  readonly figures: () => Promise<Figures>
  readonly end: () => void
}

async function startReceiver(folder: string): Promise<Receiver> {
  const { cert, key } = certificates.right
  const files = [join(folder, 'cert.pem'), join(folder, 'key.pem')] as const
  writeFileSync(files[0], cert)
  writeFileSync(files[1], key)
  const words = [process.execPath, receiverProgram, ...files, receiverAddress]
  const child = Bun.spawn(words, { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const url = `https://${receiverAddress}:${new TextDecoder().decode(value).trim()}/`
  return {
    url,
    figures: async () => (await (await fetch(url, { tls: { ca: authority } })).json()) as Figures,
    end: () => child.kill(),
  }
}

type Ask = (key: string, path: string, body: unknown) => Promise<Readonly<Record<string, unknown>>>

const asker =
  (address: string): Ask =>
  async (key, path, body) => {
    const answer = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { 'svc-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status}`)
    return (await answer.json()) as Readonly<Record<string, unknown>>
  }

async function measure(ask: Ask, manager: string, receivers: readonly Receiver[], creates: number) {
  const permissions = ['token:create']
  const application = { name: 'bench', type: 'private', permissions }
  const key = String((await ask(manager, '/applications', application))['key'])
  for (const { url } of receivers) {
    await ask(manager, '/webhooks', { name: 'bench', url, events: ['token.created'] })
  }
  const startMs = performance.now()
  let left = creates
  const create = async (): Promise<void> => {
    while ((left -= 1) >= 0) await ask(key, '/tokens', { type: 'token', data: 1 })
  }
  await Promise.all(Array.from({ length: clients }, create))
  const createdMs = performance.now() - startMs
  console.info(`creates a second: ${Math.round((creates / createdMs) * 1_000)}`)
  for (const { figures } of receivers) {
    let { count } = await figures()
    console.info(`arrived meanwhile: ${count} of ${creates}`)
    while (count < creates) {
      await Bun.sleep(lookMs)
      count = (await figures()).count
    }
    console.info(`arrived after its entry, p50: ${(await figures()).p50Ms} ms`)
  }
  const seconds = (performance.now() - startMs) / 1_000
  console.info(`deliveries a second: ${Math.round((creates * receivers.length) / seconds)}`)
}

const [webhooks = 1, creates = 5_000] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(tmpdir(), 'coffer-deliveries-'))
const own = ['--data', join(folder, 'data'), '--master-key-file', join(folder, 'key')]
const made = await runCoffer(['init', ...own, '--json'])
const { key: manager } = JSON.parse(made.stdout) as { readonly key: string }
const env = { COFFER_EGRESS_ALLOW: receiverAddress, NODE_EXTRA_CA_CERTS: writeAuthority() }
const server = await startCoffer(['serve', ...own, '--port', '0'], { env })
const receivers = await Promise.all(Array.from({ length: webhooks }, () => startReceiver(folder)))
const address = /http:\/\/\S+:\d+/.exec(server.ready)?.[0] ?? ''
await measure(asker(address), manager, receivers, creates)
for (const { end } of receivers) end()
await server.end('SIGTERM')
rmSync(folder, { recursive: true })
