/**
 * Serves a vault that lists its deletes, while requests run.
 * @module
 */
import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseErasure, type Erasure } from '../../src/rules/erasures.ts'
import { runCoffer, startCoffer } from './coffer-process.ts'
import { temporaryFolder } from './folders.ts'

/** Part of every token that is made. */
export const secret = 'planted-4e17c0'

const permissions = ['create', 'read', 'delete', 'update'].map(name => `token:${name}`)
export const rule = {
  description: 'all',
  priority: 1,
  container: '/',
  transform: 'reveal',
  permissions,
}

interface Asked {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** @param key by default, of an application that may do all with tokens */
export type Ask = (method: string, path: string, body?: object, key?: string) => Promise<Asked>

export interface ListedVault {
  readonly data: string
  readonly masterKey: string
  readonly tenantId: string
  readonly managementKey: string
  /** Key of the application that may do all with tokens. */
  readonly reader: string
}

/** Options with the paths of a folder and its key. */
export const placeOf = (
  { masterKey }: Pick<ListedVault, 'masterKey'>,
  data: string,
): readonly string[] => ['--data', data, '--master-key-file', masterKey]

const typeOf = (method: string): string =>
  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'

const askerAt =
  (url: string, reader: string): Ask =>
  async (method, path, body, key = reader) => {
    const answer = await fetch(url + path, {
      method,
      headers: { 'SVC-API-KEY': key, 'content-type': typeOf(method) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) }
  }

/**
 * Serves a folder while requests run.
 * @param prefix a command put in front
 */
export async function beside<T>(
  vault: Pick<ListedVault, 'masterKey' | 'reader'>,
  data: string,
  words: readonly string[],
  ask: (one: Ask, url: string) => Promise<T>,
  prefix: readonly string[] = [],
): Promise<{ readonly result: T; readonly logged: string }> {
  const serving = ['serve', ...placeOf(vault, data), '--port', '0', ...words]
  const server = await startCoffer(serving, { prefix })
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  try {
    const result = await ask(askerAt(url, vault.reader), url)
    expect(await server.end('SIGTERM')).toBe(0)
    return { result, logged: await server.stderr }
  } finally {
    await server.end('SIGKILL')
  }
}

export async function makeListedVault(): Promise<ListedVault> {
  const root = temporaryFolder()
  const [data, masterKey] = [join(root, 'vault'), join(root, 'master.key')]
  const made = await runCoffer(['init', ...placeOf({ masterKey }, data), '--json'])
  const { key, tenant_id: tenantId } = JSON.parse(made.stdout) as Record<string, string>
  const managementKey = key ?? ''
  const { result } = await beside({ masterKey, reader: managementKey }, data, [], async ask => {
    const body = { name: 'reader', type: 'private', rules: [rule] }
    return ask('POST', '/applications', body)
  })
  const reader = String(result.body['key'])
  return { data, masterKey, tenantId: tenantId ?? '', managementKey, reader }
}

export async function makeToken(ask: Ask, id: string): Promise<void> {
  const { status } = await ask('POST', '/tokens', { id, type: 'token', data: secret })
  expect(status).toBe(201)
}

/** Parses each line; `undefined` for a broken one. */
export const linesOf = (file: string): readonly (Erasure | undefined)[] =>
  readFileSync(file, 'utf8').split('\n').slice(0, -1).map(parseErasure)

export const idsOf = (file: string): readonly (string | undefined)[] =>
  linesOf(file).map(line => line?.id)
