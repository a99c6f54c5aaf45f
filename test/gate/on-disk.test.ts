/**
 * A thief of the data folder finds nothing that was stored, in any usual encoding.
 * @module
 */
import { expect, test } from 'bun:test'
import { encodingsOf, filesOf, findLeaks } from '../support/leaks/encodings.ts'
import { openSessionKit } from '../support/sessions.ts'
import { openTestVault } from '../support/vault.ts'

const tokens = 1_000

/** All texts of all tokens hold it, so that one search finds any of them. */
const core = 'canary-of-a-thousand'

/** A Luhn-valid card number of 16 digits for each count; all share the first 12. */
function cardNumber(count: number): string {
  const base = `4242${String(count).padStart(11, '0')}`
  const digits = [...base].map(Number).reverse()
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? digit * 2 : digit
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return base + ((10 - (sum % 10)) % 10)
}

// proves A1.2, A13.6, C12.2, C13.2, S4
test('a folder with 1,000 tokens holds none of their contents, names or keys', async () => {
  const vault = await openTestVault(21)
  const key = await vault.application({
    type: 'private',
    name: `${core}-application`,
    permissions: ['token:create', 'token:delete'],
  })
  const sentinels = [core, cardNumber(0).slice(0, 12), vault.managementKey, key, vault.tenantId]
  const addToken = async (count: number) => {
    const number = cardNumber(count)
    const body = {
      id: `${core}-id-${count}`,
      type: 'card',
      data: { number },
      metadata: { [`${core}-key-${count}`]: `${core}-value-${count}` },
      containers: [`/${core}-container-${count}/`],
      search_indexes: ['{{ data.number | last4 }}'],
    }
    expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(201)
    if (count % 10 === 0) await vault.ask('DELETE', `/tokens/${core}-id-${count}`, { key })
  }
  for (let from = 0; from < tokens; from += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, index) => addToken(from + index)))
  }
  const kit = await openSessionKit(vault)
  const [waiting, authorized] = [await kit.create(), await kit.create()]
  const value = `${core}-condition`
  const conditions = [{ attribute: 'id', operator: 'starts_with', value }]
  const permissions = ['token:read']
  const rules = [
    { priority: 1, conditions, transform: 'mask', permissions, description: `${core}-rule` },
  ]
  expect((await kit.authorize(authorized.nonce, { rules })).status).toBe(200)
  for (const { key, nonce } of [waiting, authorized]) sentinels.push(key, key.slice(9), nonce)
  sentinels.push(kit.creator.id, kit.authorizer.id)
  await vault.deps.store.close()
  const files = filesOf(vault.folder)
  expect(files.reduce((bytes, [, file]) => bytes + file.length, 0)).toBeGreaterThan(tokens * 500)
  const needles = new Map(sentinels.map(sentinel => [sentinel, encodingsOf(sentinel)]))
  expect(findLeaks(files, needles)).toEqual([])
})
