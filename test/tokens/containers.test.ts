/**
 * The containers of the tokens that a caller may read, step by step.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { entriesOf } from '../support/audit-log.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const most = 50

let vault: TestVault
let maker: string
const made: string[] = []

const create = async (container: string, id?: string): Promise<void> => {
  const body = { type: 'token', data: 'kept', containers: [container], ...(id && { id }) }
  expect((await vault.ask('POST', '/tokens', { key: maker, body })).status).toBe(201)
  made.push(container)
}

/** More than one fold, with the same container again and again. */
beforeAll(async () => {
  vault = await openTestVault(331)
  const permissions = ['token:create', 'token:read', 'token:delete']
  maker = await vault.application({
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'redact', permissions }],
  })
  const names = ['/', '/a/', '/a/x/', '/a/x/deep/', '/a/y/', '/ab/', '/b/c/d/', '/b/c/']
  for (let round = 0; round < 4; round += 1) {
    for (const name of names.slice(round)) await create(name)
  }
})

const list = (below?: string, key = maker) =>
  vault.ask('GET', `/containers${below === undefined ? '' : `?below=${below}`}`, { key })

/** Makes the right answer, by looking at every token. */
function expected(outer: string, all: readonly string[]) {
  const counts = new Map<string, number>()
  for (const inner of all) {
    if (!inner.startsWith(outer) || inner === outer) continue
    const next = inner.slice(0, inner.indexOf('/', outer.length) + 1)
    counts.set(next, (counts.get(next) ?? 0) + 1)
  }
  return {
    container: outer,
    tokens: all.filter(inner => inner === outer).length,
    below: [...counts]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([container, tokens]) => ({ container, tokens })),
    is_complete: true,
  }
}

const outers = ['/', '/a/', '/a/x/', '/a/x/deep/', '/b/', '/ab/', '/nothing/']

describe('the containers below', () => {
  // proves C11.30
  test.each(outers)('%s, with exact counts', async outer => {
    const { status, body } = await list(outer)
    expect([status, body]).toEqual([200, expected(outer, made)])
  })

  test('none are those below the root, and a container may be in any case', async () => {
    expect((await list()).body).toEqual(expected('/', made))
    expect((await list('/A/X/')).body).toEqual(expected('/a/x/', made))
  })

  // proves C11.30
  test('are those that the rules cover alone', async () => {
    const permissions = ['token:read']
    const key = await vault.application({
      type: 'private',
      rules: [
        { priority: 1, container: '/a/x/', transform: 'redact', permissions },
        { priority: 2, container: '/b/', transform: 'mask', permissions },
        { priority: 3, container: '/a/y/', transform: 'reveal', permissions: ['token:search'] },
      ],
    })
    const seen = made.filter(each => /^\/(?:a\/x|b)\//.test(each))
    for (const outer of outers) expect((await list(outer, key)).body).toEqual(expected(outer, seen))
  })

  test('of a session that sees tokens by their ids are those of these tokens', async () => {
    await create('/ids/one/', 'order-1')
    await create('/ids/two/', 'other-2')
    const conditions = [{ attribute: 'id', operator: 'starts_with', value: 'order-' }]
    const rules = [{ priority: 1, conditions, transform: 'redact', permissions: ['token:read'] }]
    const opener = await vault.application({ type: 'public', permissions: ['token:create'] })
    const { body } = await vault.ask('POST', '/sessions', { key: opener })
    const authorized = await vault.ask('POST', '/sessions/authorize', {
      key: maker,
      body: { nonce: body['nonce'], rules },
    })
    expect(authorized.status).toBe(200)
    const key = String(body['session_key'])
    expect((await list('/', key)).body).toEqual(expected('/', ['/ids/one/']))
    expect((await list('/ids/', key)).body).toEqual(expected('/ids/', ['/ids/one/']))
  })

  test('go with the last token', async () => {
    await create('/gone/', 'gone-1')
    made.pop()
    expect((await list('/gone/')).body).toMatchObject({ tokens: 1 })
    await vault.ask('DELETE', '/tokens/gone-1', { key: maker })
    expect((await list()).body).toEqual(expected('/', made))
  })
})

test('more than an answer has are told as such, and no token is left out of a count', async () => {
  for (let index = 0; index <= most; index += 1) await create(`/many/n${index}/deep/`)
  const { body } = await list('/many/')
  expect(body).toMatchObject({ is_complete: false, tokens: 0 })
  expect(body['below']).toHaveLength(most)
  const { body: root } = await list()
  expect(root['below']).toContainEqual({ container: '/many/', tokens: most + 1 })
})

describe('a request for containers is refused', () => {
  test('for a text that is no container', async () => {
    const { status, body } = await list('pci')
    expect([status, Object.keys(body['errors'] as object)]).toEqual([400, ['query.below']])
  })

  test('for an unknown parameter', async () => {
    const { status, text } = await vault.ask('GET', '/containers?within=/a/', { key: maker })
    expect(status).toBe(400)
    expect(text).toContain('expected only `below`')
  })

  test('without token:read', async () => {
    const key = await vault.application({ type: 'private', permissions: ['token:search'] })
    expect((await list('/', key)).status).toBe(403)
    expect((await list('/', vault.managementKey)).status).toBe(403)
  })
})

test('has one entry in the log, about tokens', async () => {
  await list('/b/')
  const entry = (await entriesOf(vault)).at(-1)?.entry
  expect(entry).toMatchObject({ operation: 'listContainers', entityType: 'token', result: 200 })
})
