/**
 * A vault that a process of its own serves by a socket, as tests of databases ask it.
 * @module
 */
import { startCoffer, type Running } from '../support/coffer-process.ts'
import { askOnce } from '../support/connection.ts'

const permissions = ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete']

interface Asked {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export async function ask(
  socket: string,
  key: string,
  path: string,
  body?: object,
  method = body === undefined ? 'GET' : 'POST',
): Promise<Asked> {
  const { status, text } = await askOnce({ unix: socket }, method, path, { key, body })
  return { status, body: (text === '' ? {} : JSON.parse(text)) as Asked['body'] }
}

export const serve = (data: string, socket: string, ...words: string[]): Promise<Running> =>
  startCoffer(['serve', '--data', data, '--socket', socket, ...words])

/** @returns the key of an application that may do all with tokens, as far as they are shown */
export async function addReader(
  socket: string,
  managementKey: string,
  transform: 'reveal' | 'redact' = 'reveal',
): Promise<string> {
  const rules = [{ priority: 1, container: '/', transform, permissions }]
  const body = { name: 'reader', type: 'private', permissions, rules }
  const { body: made } = await ask(socket, managementKey, '/applications', body)
  return String(made['key'])
}
