/**
 * Sessions as their managers see them: listed, and ended. Source: contract section 12.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { addApplication, openSessionKit, type SessionKit } from '../support/sessions.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, requestOf, type Answer, type TestVault } from '../support/vault.ts'

const reading = { permissions: ['token:read'] }
const minuteMs = 60_000

interface World {
  readonly vault: TestVault
  readonly kit: SessionKit
  readonly manager: string
}

async function openWorld(seed: number): Promise<World> {
  const vault = await openTestVault(seed)
  return { vault, kit: await openSessionKit(vault), manager: vault.managementKey }
}

const itemsOf = ({ body }: Answer) => body['data'] as unknown as Record<string, unknown>[]
const nextOf = ({ body }: Answer) => Object(body['pagination'])['next'] as string | undefined

/** A session with its id. */
async function make({ vault, kit }: World, grants?: object) {
  const { body } = await vault.ask('POST', '/sessions', { key: kit.creator.key })
  if (grants !== undefined) await kit.authorize(String(body['nonce']), grants)
  return {
    id: String(body['id']),
    key: String(body['session_key']),
    nonce: String(body['nonce']),
  }
}

const list = ({ vault, manager }: World, query = '', key = manager) =>
  vault.ask('GET', `/sessions${query}`, { key })

describe('the list of sessions', () => {
  let world: World
  beforeAll(async () => {
    world = await openWorld(610)
  })

  // proves C12.10
  test('shows what stands, newest first, and no key, nonce or digest', async () => {
    const waiting = await make(world)
    const open = await make(world, reading)
    const answer = await list(world)
    expect(answer.status).toBe(200)
    const [newest, oldest, ...more] = itemsOf(answer)
    expect(more).toEqual([])
    const { creator, authorizer } = world.kit
    expect(newest).toEqual({
      id: open.id,
      tenant_id: world.vault.tenantId,
      created_by: creator.id,
      created_at: '2030-01-01T00:00:00.000+00:00',
      authorized: true,
      authorized_by: authorizer.id,
      authorized_at: '2030-01-01T00:00:00.000+00:00',
      expires_at: '2030-01-01T00:03:00.000+00:00',
    })
    expect(oldest).toMatchObject({ id: waiting.id, authorized: false })
    expect(Object.keys(oldest ?? {})).not.toContain('authorized_by')
    for (const { key, nonce } of [waiting, open]) {
      for (const secret of [key, key.slice(9), nonce]) expect(answer.text).not.toContain(secret)
    }
  })

  // proves C12.10
  test('is walked by cursors, each session once, while others come and go', async () => {
    const walked = await openWorld(611)
    const ids: string[] = []
    for (let count = 0; count < 7; count += 1) ids.unshift((await make(walked)).id)
    const seen: unknown[] = []
    for (let start: string | undefined = ''; start !== undefined;) {
      const answer = await list(walked, `?start=${start}&size=3`)
      expect(answer.body['pagination']).toMatchObject({ page_size: 3 })
      seen.push(...itemsOf(answer).map(({ id }) => id))
      start = nextOf(answer)
      if (seen.length === 3) await make(walked)
    }
    expect(seen).toEqual(ids)
  })

  test('refuses pages, sizes out of bounds, and cursors that are none of its own', async () => {
    const tokens = await world.vault.ask('GET', '/tokens?start=&size=1', {
      key: world.kit.authorizer.key,
    })
    const cursors = ['abc', nextOf(tokens) ?? 'A'.repeat(80)]
    for (const query of ['?page=1', '?size=0', '?size=101', ...cursors.map(at => `?start=${at}`)]) {
      const answer = await list(world, query)
      expect([query, answer.status]).toEqual([query, 400])
    }
  })

  // proves C12.10
  test('leaves out what has ended, by itself or with the keys of its applications', async () => {
    const ended = await openWorld(612)
    const stays = await make(ended, { ...reading, expires_at: '2030-01-01T12:00:00Z' })
    await make(ended)
    const other = await addApplication(ended.vault, {
      type: 'private',
      permissions: ['token:read'],
    })
    const { nonce } = await make(ended)
    await ended.kit.authorize(nonce, { ...reading, expires_at: '2030-01-01T12:00:00Z' }, other.key)
    expect(itemsOf(await list(ended))).toHaveLength(3)
    ended.vault.clock.advance(3 * minuteMs)
    expect(itemsOf(await list(ended))).toHaveLength(2)
    const asked = { key: ended.manager }
    await ended.vault.ask('POST', `/applications/${other.id}/regenerate`, asked)
    expect(itemsOf(await list(ended)).map(({ id }) => id)).toEqual([stays.id])
  })

  test('shows nothing of another tenant, and nothing to callers without the right', async () => {
    const stranger = await addTenant(world.vault)
    expect(itemsOf(await list(world, '', stranger.managementKey))).toEqual([])
    const { kit, vault } = world
    const permissions = ['application:read', 'session:delete']
    const reader = await vault.application({ type: 'management', permissions })
    for (const key of [reader, kit.authorizer.key, kit.creator.key]) {
      expect((await list(world, '', key)).status).toBe(403)
    }
  })
})

describe('ending a session', () => {
  const end = ({ vault }: World, id: string, key: string) =>
    vault.ask('DELETE', `/sessions/${id}`, { key })

  // proves C12.11
  test('is done by a manager, at once and in every process, and once', async () => {
    const world = await openWorld(613)
    const { vault, manager } = world
    const elsewhere = buildApp(vault.deps)
    const { id, key } = await make(world, reading)
    const read = async () => (await vault.ask('GET', '/tokens', { key })).status
    const readElsewhere = async () =>
      (await elsewhere.handle(requestOf('GET', '/tokens', { key }))).status
    expect([await read(), await readElsewhere()]).toEqual([200, 200])
    const answer = await end(world, id.toUpperCase(), manager)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect([await read(), await readElsewhere()]).toEqual([401, 401])
    expect((await end(world, id, manager)).status).toBe(404)
    expect(itemsOf(await list(world))).toEqual([])
  })

  test('takes the nonce of one that waits along', async () => {
    const world = await openWorld(614)
    const { id, nonce } = await make(world)
    expect((await end(world, id, world.manager)).status).toBe(204)
    expect((await world.kit.authorize(nonce, reading)).status).toBe(404)
  })

  // proves C12.11
  test('is done by a private application for those that it authorized, and no others', async () => {
    const world = await openWorld(615)
    const { vault, kit } = world
    const own = await make(world, reading)
    const waiting = await make(world)
    const other = await addApplication(vault, { type: 'private', permissions: ['token:read'] })
    const absent = await end(world, '00000000-0000-4000-8000-000000000000', other.key)
    expect(absent.status).toBe(404)
    for (const id of [own.id, waiting.id]) {
      const refused = await end(world, id, other.key)
      expect({ ...refused.body, instance: '' }).toEqual({ ...absent.body, instance: '' })
    }
    expect((await vault.ask('GET', '/tokens', { key: own.key })).status).toBe(200)
    expect((await end(world, own.id, kit.authorizer.key)).status).toBe(204)
    expect((await vault.ask('GET', '/tokens', { key: own.key })).status).toBe(401)
  })

  // proves C12.11, E5.4
  test('is refused to managers without the permission, and to all others', async () => {
    const world = await openWorld(616)
    const { vault, kit } = world
    const { id, key } = await make(world, reading)
    const permissions = ['session:read']
    const reader = await vault.application({ type: 'management', permissions })
    for (const by of [reader, kit.creator.key, key]) {
      expect((await end(world, id, by)).status).toBe(403)
    }
    const stranger = await addTenant(vault)
    expect((await end(world, id, stranger.managementKey)).status).toBe(404)
    expect((await vault.ask('GET', '/tokens', { key })).status).toBe(200)
  })

  // proves S51
  test('lands no write of that session after it', async () => {
    const world = await openWorld(617)
    const { id, key } = await make(world, { permissions: ['token:create'] })
    // Looking for an equal token takes time between the look-up of the session and the write.
    const create = (index: number) =>
      world.vault.ask('POST', '/tokens', {
        key,
        body: {
          type: 'token',
          data: `${index}`,
          deduplicate_token: true,
        },
      })
    const total = async () => {
      const answer = await world.vault.ask('GET', '/tokens', { key: world.kit.authorizer.key })
      return Object(answer.body['pagination'])['total_items']
    }
    const creates = Array.from({ length: 50 }, (_, index) => create(index))
    expect((await end(world, id, world.manager)).status).toBe(204)
    const standing = await total()
    const statuses = (await Promise.all(creates)).map(({ status }) => status)
    expect(statuses.filter(status => status !== 201 && status !== 401)).toEqual([])
    expect(statuses.filter(status => status === 201)).toHaveLength(standing)
    expect(await total()).toBe(standing)
  })
})
