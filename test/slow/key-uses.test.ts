/**
 * A server writes by itself on which day a key was used last, within seconds.
 * @module
 */
import { expect, test } from 'bun:test'
import { startServer } from '../../src/server/process/server.ts'
import { until } from '../support/until.ts'
import { openTestVault } from '../support/vault.ts'

// proves C15.13
test('a key that was used is shown with its day a little later', async () => {
  const vault = await openTestVault(660)
  const server = await startServer(vault.deps, { host: '127.0.0.1', port: 0 })
  const ask = async (path: string) => {
    const headers = { 'SVC-API-KEY': vault.managementKey }
    return (await fetch(server.address + path, { headers })).json() as Promise<unknown>
  }
  const { id } = (await ask('/applications/key')) as { readonly id: string }
  const days = async () =>
    ((await ask(`/applications/${id}/keys`)) as { last_used_on?: string }[]).map(
      key => key.last_used_on,
    )
  expect(await days()).toEqual([undefined])
  await until(async () => (await days())[0] !== undefined)
  expect(await days()).toEqual(['2030-01-01'])
  expect(vault.logged).toEqual([])
  await server.stop()
}, 300_000)
