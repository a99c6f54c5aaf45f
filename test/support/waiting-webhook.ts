/**
 * A webhook with a delivery of entry 0 that waits, made by the manager of a vault.
 * @module
 */
import { deliveriesKey } from '../../src/audit/derived-keys.ts'
import { encodeState } from '../../src/webhooks/delivery-state.ts'
import type { TestVault } from './vault.ts'

export const webhookBody = {
  name: 'made',
  url: 'https://hooks.example/',
  events: ['token.created'],
}

/** A tenant has few places for webhooks. */
export async function clearWebhooks({ ask, managementKey: key }: TestVault): Promise<void> {
  const { body } = await ask('GET', '/webhooks', { key })
  for (const { id } of body['data'] as { readonly id: string }[]) {
    await ask('DELETE', `/webhooks/${id}`, { key })
  }
}

/** In place of all that were there. @returns its id */
export async function makeWaitingWebhook(vault: TestVault): Promise<string> {
  await clearWebhooks(vault)
  const asked = { key: vault.managementKey, body: webhookBody }
  const { body } = await vault.ask('POST', '/webhooks', asked)
  const id = String(body['id'])
  const waiting = [{ sequence: 0, place: 0, attempts: 1, nextMs: 0 }]
  const value = encodeState({ cursor: 1, ordersDone: 0, waiting, dead: [] })
  await vault.deps.store.write([{ derived: deliveriesKey(id), value }])
  return id
}
