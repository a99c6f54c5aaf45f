/**
 * A served vault with writers that can be started and paused, so that copies are taken while it
 * changes and examined while it rests.
 * @module
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { startCoffer, type Running } from '../../support/coffer-process.ts'
import {
  ask,
  serveArguments,
  type Question,
  type StoredVault,
  type Target,
} from './stored-vault.ts'

const writers = 6
/** Time that writers get before a copy begins. */
const headStartMs = 30

export interface LiveVault {
  /** The folder of the database. */
  readonly store: string
  /** Acknowledged tokens that stay unchanged until the next task. */
  readonly kept: Question[]
  readonly target: Target
  readonly server: Running
  made: number
}

async function send(live: LiveVault, method: string, path: string, body?: unknown) {
  const response = await ask(live.target, { method, path, body })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  return text
}

/** Writes one token that stays, and one that is changed and deleted, so that pages are reused. */
async function writeOnce(live: LiveVault): Promise<void> {
  const id = `live-${(live.made += 1)}`
  const path = `/tokens/${id}`
  const body = { id, type: 'token', data: { id, text: 'x'.repeat(live.made % 3_000) } }
  await send(live, 'POST', '/tokens', { ...body, metadata: { live: 'yes' } })
  const text = await send(live, 'GET', path)
  live.kept.push({ method: 'GET', path, text })
  const brief = { id: `${id}-brief`, type: 'token', data: 1 }
  await send(live, 'POST', '/tokens', brief)
  await send(live, 'PATCH', `${path}-brief`, { data: 2 })
  await send(live, 'DELETE', `${path}-brief`)
}

async function clear(live: LiveVault): Promise<void> {
  const old = live.kept.splice(0)
  await Promise.all(old.map(({ path }) => send(live, 'DELETE', path)))
}

/** Runs the task while writers write. @returns its result */
export async function underLoad<T>(live: LiveVault, task: () => Promise<T>): Promise<T> {
  await clear(live)
  let isOver = false
  const write = async (): Promise<void> => {
    while (!isOver) await writeOnce(live)
  }
  const work = Promise.all(Array.from({ length: writers }, write))
  await Bun.sleep(headStartMs)
  try {
    return await task()
  } finally {
    isOver = true
    await work
  }
}

export async function startLiveVault(vault: StoredVault, folder: string): Promise<LiveVault> {
  const data = join(folder, 'live')
  const socket = join(folder, 'live.sock')
  cpSync(vault.data, data, { recursive: true })
  const server = await startCoffer(serveArguments(data, socket))
  const target = { socket, key: vault.key }
  return { store: join(data, 'store'), kept: [], target, server, made: 0 }
}
