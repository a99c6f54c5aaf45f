/**
 * `kill -9` right after a session was authorized or a key was replaced: the change must survive.
 * Source: hardening H124, H157.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { requestOf, type Ask } from '../support/vault.ts'

// proves H157
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
}, 300_000)

// proves H124
test('a key that was replaced is refused after kill -9, and the new one is taken', async () => {
  const data = join(temporaryFolder(), 'data')
  const socket = join(data, '..', 'vault.sock')
  const made = await runCoffer(['init', '--data', data, '--json'])
  const { key: managementKey } = JSON.parse(made.stdout) as { key: string }
  const serve = () => startCoffer(['serve', '--data', data, '--socket', socket])
  const send = (method: string, path: string, ask: Ask) =>
    fetch(requestOf(method, path, ask), { unix: socket })
  const statusOf = async (key: string) => (await send('GET', '/applications/key', { key })).status

  const first = await serve()
  const body = { name: 'replaced', type: 'private', permissions: ['token:read'] }
  const asked = await send('POST', '/applications', { key: managementKey, body })
  const old = (await asked.json()) as { id: string; key: string }
  expect(await statusOf(old.key)).toBe(200)
  const path = `/applications/${old.id}/regenerate`
  const answer = await send('POST', path, { key: managementKey })
  const { key } = (await answer.json()) as { key: string }
  await first.end('SIGKILL')

  const second = await serve()
  expect([await statusOf(old.key), await statusOf(key)]).toEqual([401, 200])
  expect(await second.end('SIGTERM')).toBe(0)
}, 300_000)
