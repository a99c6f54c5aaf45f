/**
 * Turns of requests at a store that answers late.
 * @module
 */
import { expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { storePagesMax } from '../../src/limits/limits.ts'
import { openTestVault, requestOf } from '../support/vault.ts'

test('each request gives its turn back, whether it was answered or refused', async () => {
  const vault = await openTestVault(83)
  const key = await vault.application({ type: 'private', permissions: ['token:read'] })
  const app = buildApp({ ...vault.deps, isStoreFar: true })
  const statusOf = async (path: string): Promise<number> =>
    (await app.handle(requestOf('GET', path, { key }))).status
  for (let count = 0; count <= 2 * storePagesMax; count += 1) {
    expect(await statusOf('/tokens')).toBe(200)
    expect(await statusOf('/tokens?size=0')).toBe(400)
  }
})
