/**
 * What a thief of the data folder finds: nothing that was stored, in any usual encoding.
 * @module
 */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSessionKit } from '../support/sessions.ts'
import { openTestVault } from '../support/vault.ts'

const tokens = 1_000

/** A Luhn-valid card number of 16 digits for each count. */
function cardNumber(count: number): string {
  const base = `4242${String(count).padStart(11, '0')}`
  const digits = [...base].map(Number).reverse()
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? digit * 2 : digit
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return base + ((10 - (sum % 10)) % 10)
}

/** The text as it could lie in a file: raw, UTF-16 both ways, hex, and base64 at each alignment. */
function encodings(text: string): Buffer[] {
  const raw = Buffer.from(text)
  const little = Buffer.from(text, 'utf16le')
  const big = Buffer.from(little).swap16()
  const hex = raw.toString('hex')
  const base64 = [0, 1, 2].map(shift => {
    const shifted = Buffer.concat([Buffer.alloc(shift), raw]).toString('base64')
    return Buffer.from(shifted.slice(shift === 0 ? 0 : 4, -4))
  })
  return [raw, little, big, Buffer.from(hex), Buffer.from(hex.toUpperCase()), ...base64]
}

const filesOf = (folder: string): Buffer[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name)))

test('a folder with 1,000 tokens holds none of their contents, names or keys', async () => {
  const vault = await openTestVault(21)
  const key = await vault.application({
    type: 'private',
    name: 'canary-application',
    permissions: ['token:create', 'token:delete'],
  })
  const sentinels = ['canary-application', vault.managementKey, key, vault.tenantId]
  const addToken = async (count: number) => {
    const number = cardNumber(count)
    const body = {
      id: `canary-id-${count}`,
      type: 'card',
      data: { number },
      metadata: { [`canary-key-${count}`]: `canary-value-${count}` },
      containers: [`/canary-container-${count}/`],
      search_indexes: ['{{ data.number | last4 }}'],
    }
    expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(201)
    sentinels.push(number, `canary-id-${count}`, `canary-key-${count}`, `canary-value-${count}`)
    sentinels.push(`canary-container-${count}`)
    if (count % 10 === 0) await vault.ask('DELETE', `/tokens/canary-id-${count}`, { key })
  }
  for (let from = 0; from < tokens; from += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, index) => addToken(from + index)))
  }
  const kit = await openSessionKit(vault)
  const [waiting, authorized] = [await kit.create(), await kit.create()]
  const value = 'canary-condition'
  const conditions = [{ attribute: 'id', operator: 'starts_with', value }]
  const permissions = ['token:read']
  const rules = [
    { priority: 1, conditions, transform: 'mask', permissions, description: 'canary-rule' },
  ]
  expect((await kit.authorize(authorized.nonce, { rules })).status).toBe(200)
  for (const { key, nonce } of [waiting, authorized]) sentinels.push(key, key.slice(9), nonce)
  sentinels.push(value, 'canary-rule', kit.creator.id, kit.authorizer.id)
  await vault.deps.store.close()
  const files = filesOf(vault.folder)
  expect(files.reduce((bytes, file) => bytes + file.length, 0)).toBeGreaterThan(tokens * 500)
  const found = sentinels.filter(sentinel =>
    encodings(sentinel).some(needle => files.some(file => file.includes(needle))),
  )
  expect(found).toEqual([])
  expect(
    encodings('canary-value-1').some(needle => Buffer.from('x canary-value-1').includes(needle)),
  ).toBe(true)
})
