/**
 * Values around the sizes of the engine's pages, at the limit of a token, and beyond.
 * Hardening H171.
 * @module
 */
import { expect, test } from 'bun:test'
import { tokenDataBytesMax } from '../../src/limits/limits.ts'
import { openTestVault, reopenTestVault } from '../support/vault.ts'

const pageBytes = 4_096
const quotesBytes = 2

const around = (bytes: number, step: number): number[] =>
  Array.from({ length: 21 }, (_, index) => bytes + (index - 10) * step)

/** Every size in some distance below a page is where a sealed row of it fills a page. */
const sizes = [
  ...new Set([
    ...around(pageBytes, 1),
    ...around(pageBytes, 37),
    ...around(2 * pageBytes, 37),
    ...around(16 * pageBytes, 37),
    tokenDataBytesMax - quotesBytes,
  ]),
]

/** No two bytes of a page alike. */
const contentOf = (size: number): string =>
  Array.from({ length: Math.ceil(size / 6) }, (_, index) => String(index).padStart(6, '-'))
    .join('')
    .slice(0, size)

// proves H171
test('H171: values of every size around a page, and at the limit, come back whole', async () => {
  const vault = await openTestVault(181)
  const permissions = ['token:create', 'token:read']
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  const key = await vault.application({ type: 'private', rules })
  for (const size of sizes) {
    const body = { id: `size-${size}`, type: 'token', data: contentOf(size) }
    expect([size, (await vault.ask('POST', '/tokens', { key, body })).status]).toEqual([size, 201])
  }
  const reopened = await reopenTestVault(vault, 181)
  for (const size of sizes) {
    const { status, body } = await reopened.ask('GET', `/tokens/size-${size}`, { key })
    expect([size, status, body['data'] === contentOf(size)]).toEqual([size, 200, true])
  }
})

// proves H171
test('H171: a value over the limit is 400 and one of 16 MB is 413; neither is stored', async () => {
  const vault = await openTestVault(182)
  const key = await vault.application({
    type: 'private',
    permissions: ['token:create', 'token:read'],
  })
  const create = async (size: number) => {
    const body = { id: 'too-large', type: 'token', data: contentOf(size) }
    return (await vault.ask('POST', '/tokens', { key, body })).status
  }
  expect(await create(tokenDataBytesMax - quotesBytes + 1)).toBe(400)
  expect(await create(16 * 1024 * 1024)).toBe(413)
  expect((await vault.ask('GET', '/tokens/too-large', { key })).status).toBe(404)
})
