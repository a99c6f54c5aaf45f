/**
 * The feed of events: pages, filters, waiting, and its ends.
 * @module
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { addTenant } from '../support/tenants.ts'
import { until } from '../support/until.ts'
import { requestOf } from '../support/vault.ts'
import { openHookVault, type HookVault } from '../support/webhooks.ts'

let vault: HookVault
let app: ReturnType<typeof buildApp>
beforeEach(async () => {
  vault = await openHookVault(400)
  app = buildApp(vault.deps)
})

interface Line {
  readonly type: string
  readonly sequence: number
  readonly after: number
  readonly oldest: number
  readonly data: Readonly<Record<string, { readonly id: string }>>
}

const get = async (query = '', key = vault.managementKey): Promise<Response> =>
  app.handle(requestOf('GET', `/events${query}`, { key }))

const linesOf = async (response: Response): Promise<Line[]> =>
  (await response.text())
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

const idsIn = (lines: readonly Line[]): unknown[] =>
  lines.slice(0, -1).map(({ data }) => data['token']?.id ?? data['application']?.id)

describe('the feed', () => {
  // proves C18.12
  test('tells the events of the tenant in order, one a line, and where to go on', async () => {
    await vault.makeTokens('t-1', 't-2')
    const other = await addTenant(vault)
    const key = await other.application({ type: 'private', permissions: ['token:create'] })
    await vault.ask('POST', '/tokens', { key, body: { id: 'other', type: 'token', data: 1 } })
    const response = await get('?types=token.created')
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = await linesOf(response)
    expect(idsIn(lines)).toEqual(['t-1', 't-2'])
    const [first] = lines
    const more = await linesOf(await get(`?types=token.created&after=${first?.sequence}`))
    expect(idsIn(more)).toEqual(['t-2'])
    const last = more.at(-1)
    expect(last).toMatchObject({ type: 'page.end', oldest: 0 })
    await vault.makeTokens('t-3')
    const next = await linesOf(await get(`?after=${last?.after}`))
    expect(next.map(({ type }) => type)).toContain('token.created')
    expect(idsIn(next)).toContain('t-3')
    expect(idsIn(next)).not.toContain('t-1')
    expect(await (await get()).text()).not.toMatch(/planted|"other"/)
  })

  test.each([
    'after=-1',
    'after=x',
    'after=1e3',
    'after=1000000',
    'wait=21',
    'wait=-1',
    'types=token.sold',
    'types=',
  ])('refuses %s', async query => expect((await get(`?${query}`)).status).toBe(400))

  // proves C18.11
  test('is of those who may read the log', async () => {
    expect((await get('', vault.key)).status).toBe(403)
    expect((await get('', 'key_none')).status).toBe(401)
  })
})

describe('a page that waits', () => {
  const head = async (): Promise<number | undefined> => (await linesOf(await get())).at(-1)?.after
  const wait = (after: number | undefined, key?: string): Promise<Response> =>
    get(`?types=token.created&after=${after}&wait=20`, key)

  // proves C18.13
  test('ends with the first events', async () => {
    const waiting = wait(await head())
    await vault.makeTokens('t-1')
    expect(idsIn(await linesOf(await waiting))).toEqual(['t-1'])
  })

  // proves C18.13
  test('ends when its time is over', async () => {
    const waiting = wait(await head())
    const ticking = setInterval(() => vault.clock.advance(5_000), 5)
    const lines = await linesOf(await waiting)
    clearInterval(ticking)
    expect(idsIn(lines)).toEqual([])
  })

  // proves C18.13
  test('is a request under way, and ends when no more are taken', async () => {
    const waiting = wait(await head())
    await until(() => app.underWay() > 0)
    await app.drain()
    expect((await waiting).status).toBe(200)
    expect(app.underWay()).toBe(0)
  })

  // proves C18.13
  test('shows nothing to a key that was revoked meanwhile', async () => {
    const key = await vault.application({ type: 'management', permissions: ['log:read'] })
    const { body } = await vault.ask('GET', '/applications/key', { key })
    const waiting = wait(await head(), key)
    await until(() => app.underWay() > 0)
    expect((await vault.manage('DELETE', `/applications/${String(body['id'])}`)).status).toBe(204)
    await vault.makeTokens('late')
    const refused = await waiting
    expect(refused.status).toBe(401)
    expect(await refused.text()).not.toContain('late')
    expect((await get('', key)).status).toBe(401)
  })

  // proves C18.13
  test('is one of few of its credential', async () => {
    const after = await head()
    const pages = Array.from({ length: 5 }, () => wait(after))
    const refused = await Promise.race(pages)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    await vault.makeTokens('t-1')
    const all = await Promise.all(pages)
    expect(all.filter(({ status }) => status === 200)).toHaveLength(4)
  })
})
