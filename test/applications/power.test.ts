/**
 * A manager that may only change applications cannot make itself a key that sees data.
 *
 * Source: contract section 11, "Regenerating the key of an application".
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { openTestVault, type TestVault } from '../support/vault.ts'

const rule = (priority: number, container: string, transform: string, permission = 'read') => ({
  priority,
  container,
  transform,
  permissions: [`token:${permission}`],
})

let vault: TestVault
let updater: string
beforeAll(async () => {
  vault = await openTestVault(620)
  const permissions = ['application:read', 'application:update']
  updater = await vault.application({ type: 'management', permissions })
})

async function make(grants: object, type = 'private') {
  const key = await vault.application({ type, ...grants })
  const { body } = await vault.ask('GET', '/applications/key', { key })
  return { key, path: `/applications/${String(body['id'])}` }
}

const statusOf = async (method: string, path: string, key: string, body?: object) =>
  (await vault.ask(method, path, body === undefined ? { key } : { key, body })).status

describe('the key of an application that may hold token permissions', () => {
  // proves C11.17, E5.3
  test.each([
    ['private', { permissions: ['token:read'] }],
    ['private', { rules: [rule(1, '/', 'redact')] }],
    ['public', { permissions: ['token:create'] }],
  ])('of type %s is made anew only with application:create too', async (type, grants) => {
    const { key, path } = await make(grants, type)
    const refused = await vault.ask('POST', `${path}/regenerate`, { key: updater })
    expect(refused.status).toBe(403)
    expect(refused.body['detail']).toContain('application:create')
    expect(refused.text).not.toContain('key_')
    expect(await statusOf('GET', '/applications/key', key)).toBe(200)
    expect(await statusOf('POST', `${path}/regenerate`, vault.managementKey)).toBe(200)
  })

  test('of type management is made anew by a caller who holds what it may', async () => {
    const { path } = await make({ permissions: ['application:read'] }, 'management')
    expect(await statusOf('POST', `${path}/regenerate`, updater)).toBe(200)
  })
})

const masked = { permissions: ['token:read'], rules: [rule(1, '/pci/', 'redact')] }

describe('grants', () => {
  const wider: readonly (readonly [string, object])[] = [
    ['one permission more', { ...masked, permissions: ['token:read', 'token:use'] }],
    ['a rule that shows more', { ...masked, rules: [rule(1, '/pci/', 'reveal')] }],
    ['a narrowing rule less', { permissions: ['token:read'] }],
    ['a narrowing rule for a part alone', { ...masked, rules: [rule(1, '/pci/high/', 'redact')] }],
    ['a revealing rule behind', { ...masked, rules: [...masked.rules, rule(2, '/', 'reveal')] }],
  ]

  // proves C11.17, S52
  test.each(wider)('are widened by %s only with application:create too', async (_, grants) => {
    const { path } = await make(masked)
    const body = { name: 'wider', ...grants }
    const refused = await vault.ask('PUT', path, { key: updater, body })
    expect(refused.status).toBe(403)
    expect(refused.body['detail']).toContain('application:create')
    const { body: stands } = await vault.ask('GET', path, { key: vault.managementKey })
    expect(stands).toMatchObject({ ...masked, name: stands['name'] })
    expect(await statusOf('PUT', path, vault.managementKey, body)).toBe(200)
  })

  const narrower: readonly (readonly [string, object])[] = [
    ['the same, renamed', masked],
    ['no plain permission', { rules: masked.rules }],
    ['a wider rule that shows less', { ...masked, rules: [rule(1, '/', 'redact')] }],
  ]

  // proves C11.17
  test.each(narrower)('may be %s without it', async (_, grants) => {
    const { path } = await make(masked)
    expect(await statusOf('PUT', path, updater, { name: 'renamed', ...grants })).toBe(200)
  })

  test('are not widened by what a rule that never decides would hide', async () => {
    const rules = [rule(1, '/pci/', 'reveal'), rule(2, '/pci/', 'redact')]
    const { path } = await make({ permissions: ['token:read'], rules })
    const body = { name: 'narrower', rules: [rule(1, '/', 'mask')] }
    expect(await statusOf('PUT', path, updater, body)).toBe(200)
  })
})
