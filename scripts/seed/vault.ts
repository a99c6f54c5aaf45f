/**
 * Vault of a data set: made by the command line if there is none, its applications by HTTP.
 * @module
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runToEnd, startChild } from '../bench/child.ts'
import { smallContainer } from './contents.ts'

const mainFile = resolve(import.meta.dir, '../../src/main.ts')
const coffer = [process.execPath, mainFile]

/** One API key for each kind of measured caller. */
export interface VaultKeys {
  readonly manager: string
  /** May do everything with every token, and reads plaintext. */
  readonly reveal: string
  /** Reads and searches every token, masked. */
  readonly mask: string
  /** Reads and searches the small container alone, masked. */
  readonly limited: string
  /** A public application: creates tokens and reads none. */
  readonly create: string
}

const tokenPermissions = ['create', 'read', 'search', 'update', 'delete', 'use'].map(
  action => `token:${action}`,
)

const reading = ['token:read', 'token:search']

const applications = {
  reveal: {
    name: 'Reveals',
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: tokenPermissions }],
  },
  mask: { name: 'Masks', type: 'private', permissions: reading },
  limited: {
    name: 'Limited',
    type: 'private',
    rules: [
      { priority: 1, container: smallContainer.path, transform: 'mask', permissions: reading },
    ],
  },
  create: { name: 'Creates', type: 'public', permissions: ['token:create'] },
} as const

async function makeManager(data: string): Promise<string> {
  const words = existsSync(join(data, 'format'))
    ? ['app', 'create', '--name', 'Data set maker', '--data', data]
    : ['init', '--data', data]
  const printed = await runToEnd([...coffer, ...words, '--json'])
  return (JSON.parse(printed) as { key: string }).key
}

async function makeApplication(address: string, manager: string, body: unknown): Promise<string> {
  const response = await fetch(`${address}/applications`, {
    method: 'POST',
    headers: { 'svc-api-key': manager, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const made = (await response.json()) as { key?: string }
  if (made.key === undefined) throw new Error(`POST /applications: status ${response.status}`)
  return made.key
}

/** @returns the keys of new applications; the folder may hold tokens already */
export async function makeVault(data: string): Promise<VaultKeys> {
  const manager = await makeManager(data)
  const server = await startChild([...coffer, 'serve', '--data', data, '--port', '0'])
  try {
    const address = server.ready.split(' ').at(-1) ?? ''
    const make = (kind: keyof typeof applications) =>
      makeApplication(address, manager, applications[kind])
    return {
      manager,
      reveal: await make('reveal'),
      mask: await make('mask'),
      limited: await make('limited'),
      create: await make('create'),
    }
  } finally {
    await server.stop()
  }
}
