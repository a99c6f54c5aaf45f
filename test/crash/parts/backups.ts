/**
 * Backups of a vault under load: each restores into a folder of its own, which is whole and holds
 * every token acknowledged before the backup began.
 * @module
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer, type Running } from '../../support/coffer-process.ts'
import { drawFrom, type Draw } from '../draw.ts'
import type { PartOptions, PartResult, Size } from '../part.ts'

const backups: Readonly<Record<Size, number>> = { full: 100, short: 3 }
const writers = 8
/** Acknowledged tokens read back per backup; the total is compared as well. */
const readsOfBackup = 300
const restMsMax = 300
/** Pause of a writer between creates, so that the vault stays small enough for a hundred checks. */
const pauseMsMax = 100

interface World {
  readonly folder: string
  readonly data: string
  readonly masterKey: string
  readonly manager: string
  /** Acknowledged tokens, by id. */
  readonly ledger: Map<string, string>
  readonly draw: Draw
  readonly failures: string[]
}

interface Served {
  readonly server: Running
  readonly ask: (key: string, method: string, path: string, body?: object) => Promise<Response>
}

const keyOptions = ({ masterKey }: World): readonly string[] => ['--master-key-file', masterKey]

async function serve(world: World, data: string): Promise<Served> {
  const socket = join(world.folder, `${world.draw(1e9)}.sock`)
  const words = ['--data', data, '--socket', socket, ...keyOptions(world)]
  const server = await startCoffer(['serve', ...words])
  return {
    server,
    ask: (key, method, path, body) =>
      fetch(`http://localhost${path}`, {
        method,
        unix: socket,
        headers: { 'SVC-API-KEY': key, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
  }
}

async function makeKey({ manager }: World, { ask }: Served): Promise<string> {
  const permissions = ['token:create', 'token:read', 'token:delete', 'token:search']
  const rules = [
    { description: 'all', priority: 1, container: '/', transform: 'reveal', permissions },
  ]
  const body = { name: 'app', type: 'private', rules }
  return ((await (await ask(manager, 'POST', '/applications', body)).json()) as { key: string }).key
}

async function write({ ledger }: World, { ask }: Served, key: string, data: string): Promise<void> {
  const answer = await ask(key, 'POST', '/tokens', { type: 'token', data })
  if (answer.status !== 201) throw new Error(`a create was answered ${answer.status}`)
  ledger.set(((await answer.json()) as { id: string }).id, data)
}

/** @returns the number of tokens in the restored vault */
async function checkRestored(
  world: World,
  data: string,
  key: string,
  before: ReadonlyMap<string, string>,
): Promise<number> {
  const { server, ask } = await serve(world, data)
  const ids = [...before.keys()]
  for (let n = 0; n < Math.min(readsOfBackup, ids.length); n += 1) {
    const id = ids[world.draw(ids.length)] ?? ''
    const token = (await (await ask(key, 'GET', `/tokens/${id}`)).json()) as { data?: string }
    if (token.data !== before.get(id)) world.failures.push('a token of before is not as it was')
  }
  const list = await ask(key, 'GET', '/tokens?size=1')
  const { pagination } = (await list.json()) as { pagination: { total_items: number } }
  if (pagination.total_items < before.size) world.failures.push('tokens of before are missing')
  if ((await server.end('SIGTERM')) !== 0) world.failures.push('the restored vault ended badly')
  return pagination.total_items
}

/** Makes one backup, and restores and checks it. @returns its number of tokens */
async function backUp(world: World, key: string, number: number): Promise<number> {
  const file = join(world.folder, `${number}.backup`)
  const data = join(world.folder, `restored-${number}`)
  const before = new Map(world.ledger)
  const steps = [
    ['backup', '--data', world.data, '--to', file],
    ['restore', file, '--data', data, '--keep-keys'],
    ['verify', '--data', data],
  ]
  for (const words of steps) {
    const { exitCode, stderr } = await runCoffer([...words, ...keyOptions(world)])
    if (exitCode !== 0) throw new Error(`${words[0]} ended with ${exitCode}: ${stderr}`)
  }
  const tokens = await checkRestored(world, data, key, before)
  for (const path of [file, data]) rmSync(path, { recursive: true })
  return tokens
}

async function runAll(world: World, { size, say }: PartOptions): Promise<PartResult> {
  const served = await serve(world, world.data)
  const key = await makeKey(world, served)
  let isDone = false
  const working = Array.from({ length: writers }, async (_, writer) => {
    for (let n = 0; !isDone; n += 1) {
      await write(world, served, key, `${writer} ${n}`)
      await Bun.sleep(world.draw(pauseMsMax))
    }
  })
  let restored = 0
  for (let number = 1; number <= backups[size]; number += 1) {
    await Bun.sleep(world.draw(restMsMax))
    restored = await backUp(world, key, number)
    if (number % 10 === 0) say(`${number} backups, ${restored} tokens in the last`)
  }
  isDone = true
  await Promise.all(working)
  const exitCode = await served.server.end('SIGTERM')
  if (exitCode !== 0) world.failures.push(`the vault ended with ${exitCode}`)
  const figures = {
    'backups under load, each restored and verified': backups[size],
    'tokens acknowledged meanwhile': world.ledger.size,
    'tokens in the last backup': restored,
  }
  return { figures, failures: world.failures }
}

/** The part `backups`. */
export async function backUpUnderLoad(options: PartOptions): Promise<PartResult> {
  const { folder } = options
  const [data, masterKey] = [join(folder, 'vault'), join(folder, 'master.key')]
  const words = ['--data', data, '--master-key-file', masterKey, '--json']
  const { stdout } = await runCoffer(['init', ...words])
  const manager = (JSON.parse(stdout) as { key: string }).key
  const draw = drawFrom(options.seed)
  const world = { folder, data, masterKey, manager, ledger: new Map(), draw, failures: [] }
  return runAll(world, options)
}
