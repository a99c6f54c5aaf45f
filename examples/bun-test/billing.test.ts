/**
 * Billing against a real vault, which is there for each test alone:
 * `npx bun test examples/bun-test`.
 * @module
 */
import { expect, test } from 'bun:test'
import { startVault } from 'coffer/testing'
import { bill, vaultOf, type Charge } from './billing.ts'

const number = '4242424242424242'
const card = { type: 'card', data: { number } } as const
const charge: Charge = async (given, cents) => `${given.number.slice(-4)}:${cents}`

test('a customer is billed by the token id alone', async () => {
  await using vault = await startVault()
  const { id } = await vault.client('public').tokens.create(card)
  const customer = { id: 'customer-17', cardId: id }
  expect(JSON.stringify(customer)).not.toContain(number)
  expect(await bill(vault.client(), charge, customer, 1_250)).toEqual({ receipt: '4242:1250' })
})

test('a card that has expired is gone, and nothing is charged', async () => {
  await using vault = await startVault({ startAt: new Date('2030-01-01T00:00:00Z') })
  const [id = ''] = await vault.seed([{ ...card, expires_at: '2030-01-08T00:00:00Z' }])
  const customer = { id: 'customer-17', cardId: id }
  vault.clock.advance('6d')
  expect(await bill(vault.client(), charge, customer, 100)).toEqual({ receipt: '4242:100' })
  vault.clock.advance('1d')
  expect(await bill(vault.client(), charge, customer, 100)).toEqual({ problem: 'card is gone' })
})

test('with a key that sees masks the billing says so, and charges no mask', async () => {
  await using vault = await startVault()
  const [cardId = ''] = await vault.seed([card])
  const rule = { priority: 1, container: '/', transform: 'redact' } as const
  const { key } = await vault.application({
    type: 'private',
    rules: [{ ...rule, permissions: ['token:read'] }],
  })
  const client = vaultOf({ VAULT_ADDRESS: vault.address, VAULT_KEY: key })
  const billed = bill(client, charge, { id: 'customer-17', cardId }, 100)
  await expect(billed).rejects.toThrow('reveals nothing')
})
