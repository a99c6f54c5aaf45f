/**
 * A nonce authorizes once, however often and by how many it is asked for at a time.
 * Source: spec, "Sessions"; contract section 12; hardening F15.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { openSessionKit, type SessionKit } from '../support/sessions.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const racers = 50
const grants = { permissions: ['token:read'] }

describe('a nonce authorizes once', () => {
  let vault: TestVault
  let kit: SessionKit
  beforeAll(async () => {
    vault = await openTestVault(73)
    kit = await openSessionKit(vault)
  })

  test('and a second time by nobody, with the first grants or others', async () => {
    const { nonce } = await kit.create()
    expect((await kit.authorize(nonce, grants)).status).toBe(200)
    expect((await kit.authorize(nonce, grants)).status).toBe(409)
    expect((await kit.authorize(nonce, { permissions: ['token:create'] })).status).toBe(409)
  })

  // proves C12.15, H151, S55
  test('of many that race, and what the first of them grants counts', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { key, nonce } = await kit.create()
      const asks = Array.from({ length: racers }, (_, index) => {
        const permissions = [index % 2 === 0 ? 'token:read' : 'token:create']
        const rules = [{ priority: index + 1, container: '/', transform: 'mask', permissions }]
        return kit.authorize(nonce, { rules })
      })
      const statuses = (await Promise.all(asks)).map(({ status }) => status)
      expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: racers - 1 }, () => 409)])
      const read = await vault.ask('GET', '/tokens', { key })
      expect(read.status).toBe(statuses.indexOf(200) % 2 === 0 ? 200 : 403)
    }
  })
})
