/**
 * The published clients for JavaScript in Node.js, where their users have them.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { startVault, type TestVault } from '../../src/testing/index.ts'
import { runIn } from '../support/page.ts'

const root = resolve(import.meta.dir, '../..')

let vault: TestVault
beforeAll(async () => {
  vault = await startVault({ settings: { headerPrefix: ['bt'] } })
})
afterAll(() => vault.stop())

/** Returns the output of a program that has a client of each. */
async function run(code: string): Promise<string> {
  const env = {
    VAULT: vault.address.replace('127.0.0.1', 'localhost'),
    PUBLIC_KEY: vault.keys.public,
    PRIVATE_KEY: vault.keys.private,
  }
  const node = Bun.which('node') ?? 'node'
  const { stdout, stderr } = await runIn(root, [node, '--input-type=module', '-e', code], env)
  return stdout + stderr
}

const store = `const card = { type: 'card', data: { number: '4242424242424242' } }
  const { id, data } = await page.tokens.create(card)`

describe.skipIf(Bun.which('node') === null)('in Node.js', () => {
  // proves P9
  test('@basis-theory/node-sdk stores a card and reads it', async () => {
    const printed = await run(`
      import { BasisTheoryClient } from '@basis-theory/node-sdk'
      const { VAULT: baseUrl, PUBLIC_KEY, PRIVATE_KEY } = process.env
      const page = new BasisTheoryClient({ apiKey: PUBLIC_KEY, baseUrl })
      const backend = new BasisTheoryClient({ apiKey: PRIVATE_KEY, baseUrl })
      ${store}
      console.log(data.number, (await backend.tokens.get(id)).data.number)`)
    expect(printed).toBe('XXXXXXXXXXXX4242 4242424242424242\n')
  })

  // proves P17
  test('@basis-theory/basis-theory-js stores a card and reads it', async () => {
    const printed = await run(`
      import { BasisTheory } from '@basis-theory/basis-theory-js'
      const { VAULT: apiBaseUrl, PUBLIC_KEY, PRIVATE_KEY } = process.env
      const clientOf = key => new BasisTheory().init(key, { apiBaseUrl, disableTelemetry: true })
      const page = await clientOf(PUBLIC_KEY)
      const backend = await clientOf(PRIVATE_KEY)
      ${store}
      console.log(data.number, (await backend.tokens.retrieve(id)).data.number)`)
    expect(printed).toBe('XXXXXXXXXXXX4242 4242424242424242\n')
  })
})
