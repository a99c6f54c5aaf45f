/**
 * Updates of applications that are tried first, and those that reveal more than one change may.
 * @module
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import type { ShownChange } from '../../src/rules/access-changes.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const permissions = ['token:read'] as const
const masking = [{ priority: 1, container: '/', transform: 'mask', permissions }]
const revealing = [
  { priority: 1, container: '/pci/', transform: 'reveal', permissions },
  { ...masking[0], priority: 2 },
]

let vault: TestVault
let id: string
let desk: string

async function open(settings: object = {}): Promise<void> {
  vault = await openTestVault(416, settings)
  const rules = [
    {
      priority: 1,
      container: '/',
      transform: 'reveal',
      permissions: ['token:create', ...permissions],
    },
  ]
  const owner = await vault.application({ type: 'private', rules })
  for (const token of ['red', 'blue', 'gold']) {
    const body = { id: token, type: 'token', data: 1, containers: ['/pci/high/'] }
    const made = await vault.ask('POST', '/tokens', { key: owner, body })
    if (made.status !== 201) throw new Error(made.text)
  }
  await vault.ask('POST', '/tokens', { key: owner, body: { id: 'grey', type: 'token', data: 1 } })
  desk = await vault.application({ type: 'private', name: 'Desk', rules: masking })
  id = String((await vault.ask('GET', '/applications/key', { key: desk })).body['id'])
}

beforeEach(() => open())

const update = (query: string, body: object, key = vault.managementKey, at = id) =>
  vault.ask('PUT', `/applications/${at}${query}`, { key, body: { name: 'Desk', ...body } })

const stored = async (): Promise<string> =>
  (await vault.ask('GET', `/applications/${id}`, { key: vault.managementKey })).text

const entriesOf = async (operation: string): Promise<readonly object[]> => {
  await vault.deps.audit.flush()
  const path = `/logs?operation=${operation}&entity_id=${id}`
  const { body } = await vault.ask('GET', path, { key: vault.managementKey })
  return body['data'] as readonly object[]
}

describe('a dry run of an update', () => {
  // proves C11.26
  test('shows the application as it would be, and what it would see otherwise', async () => {
    const before = await stored()
    const tried = await update('?dry_run=true', { name: 'Till', rules: revealing })
    expect([tried.status, tried.body['name'], tried.body['rules']]).toEqual([
      200,
      'Till',
      revealing,
    ])
    const { changes } = tried.body['_extras'] as { readonly changes: readonly ShownChange[] }
    expect(changes).toEqual([
      {
        permission: 'token:read',
        from: 'mask',
        to: 'reveal',
        count: 3,
        samples: ['gold', 'blue', 'red'],
      },
    ])
    expect(await stored()).toBe(before)
    expect((await vault.ask('GET', '/tokens/red', { key: desk })).body['data']).toBeUndefined()
    const body = { application_id: id, proposed: { rules: revealing } }
    const simulated = await vault.ask('POST', '/access/simulate', {
      key: vault.managementKey,
      body,
    })
    expect(simulated.body['changes']).toEqual(changes)
  })

  // proves C11.26
  test('is in the log under a name of its own, and is no event', async () => {
    await update('?dry_run=true', { rules: revealing })
    expect(await entriesOf('previewApplication')).toHaveLength(1)
    expect(await entriesOf('updateApplication')).toHaveLength(0)
    const events = async () => {
      const path = '/events?after=0&types=application.updated&wait=0'
      const { text } = await vault.ask('GET', path, { key: vault.managementKey })
      return text.split('\n').filter(line => line.includes('"application.updated"')).length
    }
    expect(await events()).toBe(0)
    await update('?dry_run=false', { rules: revealing })
    expect(await entriesOf('updateApplication')).toHaveLength(1)
    expect(await events()).toBe(1)
  })

  test('under an idempotency key stands in the way of no update', async () => {
    const ask = (query: string) =>
      vault.ask('PUT', `/applications/${id}${query}`, {
        key: vault.managementKey,
        body: { name: 'Desk', rules: revealing },
        headers: { 'svc-idempotency-key': 'once' },
      })
    expect((await ask('?dry_run=true')).body).toHaveProperty('_extras')
    expect((await ask('')).body).not.toHaveProperty('_extras')
    expect(await entriesOf('updateApplication')).toHaveLength(1)
  })

  test.each(['access:explain', 'application:read', 'application:update'])(
    'needs %s too',
    async lacking => {
      const all = ['access:explain', 'application:read', 'application:update', 'application:create']
      const keyWith = (permissions: readonly string[]) =>
        vault.application({ type: 'management', permissions })
      const key = await keyWith(all.filter(each => each !== lacking))
      expect((await update('?dry_run=true', { rules: revealing }, key)).status).toBe(403)
      expect((await update('?dry_run=true', { rules: revealing }, await keyWith(all))).status).toBe(
        200,
      )
    },
  )

  test('is refused as the update would be', async () => {
    const weak = await vault.application({
      type: 'management',
      permissions: ['access:explain', 'application:read', 'application:update'],
    })
    const absent = '00000000-0000-4000-8000-000000000000'
    for (const query of ['', '?dry_run=true']) {
      expect((await update(query, { rules: revealing }, weak)).status).toBe(403)
      expect((await update(query, { permissions: ['log:read'] })).status).toBe(400)
      expect((await update(query, { rules: masking }, vault.managementKey, absent)).status).toBe(
        404,
      )
    }
  })

  test.each([
    '?dry_run=yes',
    '?dry_run=true&dry_run=true',
    '?dry_run=',
    '?confirm=1',
    '?dryrun=true',
  ])('is refused with %s, and nothing changes', async query => {
    const before = await stored()
    expect((await update(query, { rules: revealing })).status).toBe(400)
    expect(await stored()).toBe(before)
  })
})

describe('a change that newly reveals more tokens than one may', () => {
  // proves C11.27
  test('is 409 and changes nothing, unless it is confirmed', async () => {
    await open({ newRevealsMax: 2 })
    const before = await stored()
    const refused = await update('', { rules: revealing })
    expect([refused.status, refused.body['detail']]).toEqual([
      409,
      'This change would newly reveal more than 2 tokens: see which by dry_run=true, and send it ' +
        'with confirm=true.',
    ])
    expect(await stored()).toBe(before)
    expect((await update('?confirm=false', { rules: revealing })).status).toBe(409)
    expect((await update('?dry_run=true', { rules: revealing })).status).toBe(200)
    expect((await update('?confirm=true', { rules: revealing })).status).toBe(200)
    expect((await vault.ask('GET', '/tokens/red', { key: desk })).body['data']).toBe(1)
  })

  test('counts what no permission revealed before, once for all permissions', async () => {
    await open({ newRevealsMax: 3 })
    const [first, second] = revealing
    const both = [{ ...first, permissions: [...permissions, 'token:search'] }, second]
    expect((await update('', { rules: both })).status).toBe(200)
    expect((await update('', { rules: revealing, permissions: ['token:search'] })).status).toBe(200)
    const all = [{ ...masking[0], transform: 'reveal' }]
    expect((await update('', { rules: all })).status).toBe(200)
    expect((await update('', { rules: [], permissions: ['token:use'] })).status).toBe(200)
    expect((await update('', { permissions: ['token:create'] })).status).toBe(200)
    expect((await update('', { rules: [], permissions: ['token:use'] })).status).toBe(409)
  })

  test('is let pass where there is no such limit', async () => {
    expect((await update('', { rules: revealing })).status).toBe(200)
    await open({ newRevealsMax: 0 })
    expect((await update('', { rules: revealing })).status).toBe(409)
    expect((await update('', { name: 'Till', rules: masking })).status).toBe(200)
  })
})
