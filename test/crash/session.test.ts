/**
 * `kill -9` right after a session was authorized: it stays so, and its nonce stays used.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { requestOf, type Ask } from '../support/vault.ts'

test('an authorized session outlives kill -9, and its nonce is refused after it', async () => {
  const data = join(temporaryFolder(), 'data')
  const socket = join(data, '..', 'vault.sock')
  const made = await runCoffer(['init', '--data', data, '--json'])
  const { key: managementKey } = JSON.parse(made.stdout) as { key: string }
  const serve = () => startCoffer(['serve', '--data', data, '--socket', socket])
  const send = (method: string, path: string, ask: Ask) =>
    fetch(requestOf(method, path, ask), { unix: socket })
  const makeKey = async (type: string, permission: string): Promise<string> => {
    const body = { name: type, type, permissions: [permission] }
    const response = await send('POST', '/applications', { key: managementKey, body })
    return ((await response.json()) as { key: string }).key
  }

  const first = await serve()
  const publicKey = await makeKey('public', 'token:create')
  const key = await makeKey('private', 'token:read')
  const created = await send('POST', '/sessions', { key: publicKey })
  const session = (await created.json()) as { session_key: string; nonce: string }
  const body = { nonce: session.nonce, permissions: ['token:read'] }
  const authorized = await send('POST', '/sessions/authorize', { key, body })
  await first.end('SIGKILL')
  expect(authorized.status).toBe(200)
  expect(authorized.headers.get('content-length')).toBe('0')
  expect(authorized.headers.get('content-type')).toBeNull()
  expect(await authorized.text()).toBe('')

  const second = await serve()
  const read = await send('GET', '/tokens', { key: session.session_key })
  expect(read.status).toBe(200)
  expect((await send('POST', '/sessions/authorize', { key, body })).status).toBe(409)
  expect(await second.end('SIGTERM')).toBe(0)
}, 60_000)
