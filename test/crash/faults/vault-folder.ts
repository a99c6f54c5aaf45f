/**
 * A data folder with a key and some tokens, made once and copied for each fault.
 *
 * @module
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../../support/coffer-process.ts'
import { openConnection, type Answer, type Connection } from '../../support/connection.ts'
import { record, type Ledger } from '../ledger.ts'

/** A client without an answer by then reports that the server hangs. */
export const answerMsMax = 6_000
const tokens = 4
const permissions = ['token:create', 'token:read', 'token:update', 'token:delete']

export interface Target {
  readonly socket: string
  readonly key: string
}

export interface VaultFolder {
  readonly data: string
  /** Key of an application with every token permission. */
  readonly key: string
  /** Required states of the tokens in it. */
  readonly ledger: Ledger
}

export const serveArguments = (data: string, socket: string): string[] => [
  'serve',
  '--data',
  data,
  '--socket',
  socket,
]

export const databaseOf = (data: string): string => join(data, 'store', 'data.mdb')

export interface Client {
  /** @throws Error if the connection broke, or no answer came in time */
  ask(method: string, path: string, body?: unknown): Promise<Answer>
  close(): void
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), answerMsMax)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

export async function openClient({ socket, key }: Target): Promise<Client> {
  const connection: Connection = await inTime(openConnection({ unix: socket }))
  return {
    ask: (method, path, body) => inTime(connection.ask(method, path, { key, body })),
    close: () => connection.close(),
  }
}

async function makeKey(target: Target): Promise<string> {
  const client = await openClient(target)
  const rule = { priority: 1, container: '/', transform: 'reveal', permissions }
  const body = { name: 'writer', type: 'private', rules: [rule] }
  const { text } = await client.ask('POST', '/applications', body)
  client.close()
  return (JSON.parse(text) as { key: string }).key
}

async function makeTokens(target: Target): Promise<Ledger> {
  const client = await openClient(target)
  const ledger: Ledger = { entries: new Map(), acknowledged: 0 }
  for (let count = 0; count < tokens; count += 1) {
    const id = `made-${count}`
    const body = { id, type: 'token', data: 1 }
    const create = async () => (await client.ask('POST', '/tokens', body)).status
    await record(ledger, id, 1, create, 201)
  }
  client.close()
  return ledger
}

export async function makeVaultFolder(folder: string): Promise<VaultFolder> {
  const data = join(folder, 'made')
  const socket = join(folder, 'made.sock')
  const made = await runCoffer(['init', '--data', data, '--json'])
  const managementKey = String((JSON.parse(made.stdout) as { key: string }).key)
  const server = await startCoffer(serveArguments(data, socket))
  const key = await makeKey({ socket, key: managementKey })
  const ledger = await makeTokens({ socket, key })
  await server.end('SIGTERM')
  return { data, key, ledger }
}

/** Makes a copy that may be damaged. */
export function copyVaultFolder(made: VaultFolder, data: string): VaultFolder {
  cpSync(made.data, data, { recursive: true })
  const entries = [...made.ledger.entries].map(([id, entry]) => [id, { ...entry }] as const)
  return { ...made, data, ledger: { entries: new Map(entries), acknowledged: 0 } }
}
