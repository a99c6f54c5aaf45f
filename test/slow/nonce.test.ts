/**
 * A nonce is used once, however many race for it. Source: hardening F15; contract section 12.
 * @module
 */
import { expect, test } from 'bun:test'
import { openSessionKit } from '../support/sessions.ts'
import { openTestVault } from '../support/vault.ts'

const rounds = 1_000
const racers = 50

// proves H151
test('of fifty that authorize with one nonce, one does, a thousand times', async () => {
  const kit = await openSessionKit(await openTestVault(77))
  const grants = { permissions: ['token:read'] }
  for (let round = 0; round < rounds; round += 1) {
    const { nonce } = await kit.create()
    const asks = Array.from({ length: racers }, () => kit.authorize(nonce, grants))
    const statuses = (await Promise.all(asks)).map(({ status }) => status).toSorted()
    expect(statuses).toEqual([200, ...Array.from({ length: racers - 1 }, () => 409)])
  }
}, 600_000)
