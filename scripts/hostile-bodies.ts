/**
 * Cost of bodies with hostile names, for a server and its honest readers:
 * `bun scripts/hostile-bodies.ts [--rounds 5] [--seconds 5]`.
 *
 * Runs against a server, from source or the binary that `COFFER_BINARY` names. First sends bodies
 * of 1 MiB one by one: names of each kind in turn, each time against ordinary ones. Then a reader
 * runs alone, and beside 16 writers that send such bodies without pause, from a process of their
 * own. Prints figures and judges none.
 * @module
 */
import { parseArgs } from 'node:util'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../test/support/coffer-process.ts'
import { temporaryFolder } from '../test/support/folders.ts'
import { nameKinds, printObjects, type NameKind } from '../test/support/hostile-names.ts'

const bodyBytes = 1024 * 1024
const membersEach = 5_000
const writers = 16

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    writer: { type: 'string' },
  },
})

/** Two tokens, since the data of one may be half as large at most. */
function bodyOf(kind: NameKind): string {
  const request = `{"type":"token","data":${printObjects(kind, membersEach, bodyBytes / 2 - 100)}}`
  return `[${request},${request}]`
}

interface Target {
  readonly origin: string
  readonly key: string
}

const send = ({ origin, key }: Target, method: string, path: string, body?: string | Uint8Array) =>
  fetch(origin + path, {
    method,
    headers: { 'svc-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  })

async function timeOf(work: () => Promise<Response>): Promise<number> {
  const startMs = performance.now()
  const response = await work()
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`status ${response.status}`)
  return performance.now() - startMs
}

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(share * (times.length - 1))] ?? 0

async function writeForEver(target: Target, kind: NameKind): Promise<void> {
  const body = Buffer.from(bodyOf(kind))
  console.info('ready')
  await Promise.all(
    Array.from({ length: writers }, async () => {
      for (;;) await (await send(target, 'POST', '/tokenize', body)).arrayBuffer()
    }),
  )
}

async function readFor(target: Target, path: string, seconds: number): Promise<number[]> {
  const times: number[] = []
  const endMs = performance.now() + seconds * 1_000
  while (performance.now() < endMs) times.push(await timeOf(() => send(target, 'GET', path)))
  return times
}

async function open(): Promise<{ target: Target; path: string; stop: () => Promise<number> }> {
  const data = join(temporaryFolder(), 'data')
  const made = await runCoffer(['init', '--data', data, '--json'])
  const manager = (JSON.parse(made.stdout) as { key: string }).key
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  const origin = `http://127.0.0.1:${/:(\d+)\s*$/.exec(server.ready)?.[1]}`
  const rules = [
    {
      description: 'all',
      priority: 1,
      container: '/',
      transform: 'mask',
      permissions: ['token:create', 'token:read'],
    },
  ]
  const application = JSON.stringify({ name: 'bench', type: 'private', rules })
  const made2 = await send({ origin, key: manager }, 'POST', '/applications', application)
  const { key } = (await made2.json()) as { key: string }
  const target = { origin, key }
  const card = '{"type":"card","data":{"number":"4242424242424242"}}'
  const { id } = (await (await send(target, 'POST', '/tokens', card)).json()) as { id: string }
  return { target, path: `/tokens/${id}`, stop: () => server.end('SIGTERM') }
}

async function compareKinds(target: Target, rounds: number): Promise<void> {
  const times = new Map(nameKinds.map(kind => [kind, [] as number[]]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const kind of nameKinds) {
      const body = bodyOf(kind)
      const ms = await timeOf(() => send(target, 'POST', '/tokenize', body))
      if (round > 0) times.get(kind)?.push(ms)
    }
  }
  const ordinary = quantile(times.get('ordinary') ?? [], 0.5)
  for (const [kind, each] of times) {
    const ms = quantile(each, 0.5)
    console.info(
      `${kind.padEnd(12)} ${ms.toFixed(0)} ms, ${(ms / ordinary).toFixed(2)} of ordinary`,
    )
  }
}

async function compareReaders(target: Target, path: string, seconds: number): Promise<void> {
  await readFor(target, path, 1)
  const idle = await readFor(target, path, seconds)
  const say = (name: string, times: readonly number[]) => {
    const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)]
    const ratio = p99 / quantile(idle, 0.99)
    console.info(
      `${name.padEnd(24)} ${times.length} reads, p50 ${p50.toFixed(2)} ms, ` +
        `p99 ${p99.toFixed(2)} ms, max ${Math.max(...times).toFixed(1)} ms, ` +
        `p99 ${ratio.toFixed(1)} of idle`,
    )
  }
  say('reader alone', idle)
  for (const kind of ['ordinary', 'colliding'] as const) {
    const order = JSON.stringify({ target, kind })
    const child = Bun.spawn([process.execPath, import.meta.path, '--writer', order], {
      stdout: 'pipe',
    })
    await child.stdout.getReader().read()
    await Bun.sleep(1_000)
    say(`beside ${writers} of ${kind}`, await readFor(target, path, seconds))
    child.kill()
    await child.exited
  }
}

if (values.writer !== undefined) {
  const { target, kind } = JSON.parse(values.writer) as { target: Target; kind: NameKind }
  await writeForEver(target, kind)
} else {
  const { target, path, stop } = await open()
  try {
    await compareKinds(target, Number(values.rounds))
    await compareReaders(target, path, Number(values.seconds))
  } finally {
    await stop()
  }
}
