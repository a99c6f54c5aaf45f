/**
 * A vault that a process of its own serves by a socket, as tests of databases ask it.
 * @module
 */
import { expect } from 'bun:test'
import {
  startCoffer,
  withoutWarnings,
  type Ended,
  type Running,
} from '../support/coffer-process.ts'

const permissions = ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete']
const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]

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
  const response = await fetch(`http://localhost${path}`, {
    unix: socket,
    method,
    headers: { 'SVC-API-KEY': key, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Asked['body'] }
}

export const serve = (data: string, socket: string, ...words: string[]): Promise<Running> =>
  startCoffer(['serve', '--data', data, '--socket', socket, ...words])

/** @returns the key of an application that may do all with tokens */
export async function addReader(socket: string, managementKey: string): Promise<string> {
  const body = { name: 'reader', type: 'private', permissions, rules }
  const { body: made } = await ask(socket, managementKey, '/applications', body)
  return String(made['key'])
}

/** One line that repeats no address and no value. */
export function expectRefused({ exitCode, stdout, stderr }: Ended, code: number, says: string) {
  expect([exitCode, stdout]).toEqual([code, ''])
  expect(withoutWarnings(stderr)).toContain(says)
  expect(withoutWarnings(stderr).trim().split('\n')).toHaveLength(1)
  expect(stderr).not.toMatch(/postgres:\/\/coffer|hunter2|[0-9a-f]{16}| at .*:\d+:\d+/)
}
