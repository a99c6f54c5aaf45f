/**
 * `coffer token reindex`: other search indexes for tokens that are there.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { startVault, type TestVault } from '../../../src/testing/index.ts'
import { cofferCommand, runCoffer } from '../../support/coffer-process.ts'
import { startProxy, type Proxy } from '../../support/proxy.ts'

let vault: TestVault
const proxies: Proxy[] = []
beforeEach(async () => {
  vault = await startVault()
})
afterEach(async () => {
  await Promise.all(proxies.splice(0).map(proxy => proxy.stop()))
  await vault.stop()
})

interface Where {
  readonly key?: string
  readonly address?: string
  readonly input?: string
}

const envOf = ({ key = vault.keys.private, address = vault.address }: Where) => ({
  COFFER_ADDR: address,
  COFFER_KEY: key,
})

const run = (words: readonly string[], where: Where = {}) =>
  runCoffer(['token', 'reindex', ...words], { env: envOf(where), input: where.input ?? '' })

/** Runs a reindex. @returns its exit code, stderr and counts */
async function counts(words: readonly string[], where?: Where) {
  const { exitCode, stdout, stderr } = await run([...words, '--json'], where)
  const told = stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>)
  return { exitCode, stderr, ...told }
}

const find = async (query: string): Promise<string> => {
  const ids: string[] = []
  for await (const { id } of vault.client().tokens.search(query)) ids.push(id)
  return ids.toSorted().join(' ')
}

const throughProxy = (onRequest: (method: string, path: string) => Promise<void>): string => {
  const proxy = startProxy(vault.address, onRequest)
  proxies.push(proxy)
  return proxy.address
}

describe('coffer token reindex', () => {
  test('gives tokens that had none the indexes of their types, and no second time', async () => {
    const none = { search_indexes: [] }
    await vault.seed([
      { ...none, id: 'mail', type: 'email', data: 'ada@navy.example' },
      { ...none, id: 'phone', type: 'phone', data: '+4989654321' },
      { ...none, id: 'iban', type: 'iban', data: 'DE89 3704 0044 0532 0130 00' },
      { ...none, id: 'ssn', type: 'social_security_number', data: '123-45-6789' },
      { ...none, id: 'name', type: 'name', data: 'Ada' },
      { id: 'other', type: 'token', data: 'x', search_indexes: ['{{ data }}'] },
    ])
    expect(await find('data:navy.example OR data:4321 OR data:3000')).toBe('')
    const words = ['--where', 'container:/pii/*', '--default']
    const dry = await counts([...words, '--dry-run'])
    expect(dry).toMatchObject({ dry_run: true, found: 5, changed: 4, unchanged: 1 })
    expect(await find('data:navy.example OR data:4321 OR data:3000')).toBe('')
    const told: unknown = await counts(words)
    expect(told).toEqual({
      exitCode: 0,
      stderr: '',
      dry_run: false,
      found: 5,
      changed: 4,
      unchanged: 1,
      gone: 0,
      refused: [],
    })
    expect(await find('data:navy.example')).toBe('mail')
    expect(await find('data:"ada@navy.example"')).toBe('mail')
    expect(await find('data:4321')).toBe('phone')
    expect(await find('data:3000 AND data:DE89370400440532013000')).toBe('iban')
    expect(await find('data:123456789 AND data:6789')).toBe('ssn')
    expect(await find('data:Ada')).toBe('')
    expect(await find('data:x')).toBe('other')
    const { modified_at: before } = await vault.client().tokens.get('mail')
    vault.clock.advance(60_000)
    expect(await counts(words)).toMatchObject({ exitCode: 0, changed: 0, unchanged: 5 })
    expect((await vault.client().tokens.get('mail')).modified_at).toEqual(before)
  })

  // proves C9.7
  test('replaces indexes, says who did it, and leaves all else as it was', async () => {
    await vault.seed([
      {
        id: 'card',
        type: 'card',
        data: { number: '4242424242424242', cvc: '123' },
        search_indexes: ['{{ data.number | slice: 0, 3 }}'],
        metadata: { a: 'b' },
      },
      { id: 'plain', type: 'token', data: 7 },
    ])
    const before = await vault.client().tokens.get('card')
    const index = '{{ data.number | last4 }}'
    const words = ['--where', '-', '--index', index, '{{ data.number | card_bin }}']
    const { exitCode, stdout, stderr } = await run(words, { input: 'type:card\n' })
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toBe('1 token got these search indexes; 0 had them before.\n')
    expect(await find('data:4242')).toBe('card')
    expect(await find('data:42424242')).toBe('card')
    expect(await find('data:424')).toBe('')
    const after = await vault.client().tokens.get('card')
    const { id } = await vault.client().applications.current()
    expect(after).toEqual({
      ...before,
      search_indexes: [index, '{{ data.number | card_bin }}'],
      modified_by: id,
      modified_at: expect.any(Date) as Date,
    })
    expect(await counts(['--where', '*', '--none'])).toMatchObject({ changed: 1, unchanged: 1 })
    expect(await find('data:4242')).toBe('')
  })

  test('is refused before any change without a query, or without right indexes', async () => {
    await vault.seed([{ id: 'one', type: 'token', data: 'old', search_indexes: ['{{ data }}'] }])
    const index = ['--index', '{{ data | last4 }}']
    const all = ['--where', '*']
    const eleven = Array.from({ length: 11 }, () => '{{ data }}')
    const refusals: readonly (readonly [string[], number, string])[] = [
      [index, 2, '--where: expected a query'],
      [['--where', ' ', ...index], 2, '--where: expected a query'],
      [all, 2, 'expected one of --index, --default and --none'],
      [[...all, ...index, '--none'], 2, 'expected one of'],
      [[...all, '--default', '--none'], 2, 'expected one of'],
      [[...all, '--index', '{{ data }}', '{{ data | lats4 }}'], 2, '--index, number 2'],
      [[...all, '--index', '{{ metadata.a }}'], 2, '--index, number 1'],
      [[...all, '--index', ...eleven], 2, 'at most 10'],
      [['--where', 'customer:17', ...index], 6, 'query'],
    ]
    for (const [words, code, says] of refusals) {
      const { exitCode, stdout, stderr } = await run(words)
      expect([words, exitCode, stdout]).toEqual([words, code, ''])
      expect(stderr).toContain(says)
    }
    expect(await find('data:old')).toBe('one')
    expect((await vault.client().tokens.get('one')).modified_at).toBeUndefined()
  })

  test('needs a key that searches and updates, and changes what that reaches', async () => {
    const indexes = { search_indexes: ['{{ data }}'] }
    await vault.seed([
      { ...indexes, id: 'near', type: 'token', data: 'v4lue-1234', containers: ['/a/'] },
      { ...indexes, id: 'read', type: 'token', data: 'v4lue-1234', containers: ['/b/'] },
      { ...indexes, id: 'far', type: 'token', data: 'v4lue-1234', containers: ['/c/'] },
    ])
    const words = ['--where', '*', '--index', '{{ data | last4 }}']
    type Grants = Required<Parameters<TestVault['application']>[0]>
    const keyOf = async (permissions: Grants['permissions'], rules: Grants['rules'] = []) =>
      (await vault.application({ type: 'private', permissions, rules })).key
    const reading = await counts(words, { key: await keyOf(['token:search', 'token:read']) })
    expect(reading).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('token:update') })
    const blind = await counts(words, { key: await keyOf(['token:update']) })
    expect(blind).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('token:search') })
    const masked = await keyOf(['token:update', 'token:search'])
    const refused = await counts(words, { key: masked })
    expect(refused).toMatchObject({ exitCode: 3, found: 3, changed: 0, refused: [{ count: 3 }] })
    expect(JSON.stringify(refused)).not.toContain('v4lue')
    expect(await find('data:1234')).toBe('')
    const rule = { transform: 'reveal', container: '/a/' } as const
    const some = await keyOf(
      [],
      [
        { ...rule, priority: 1, permissions: ['token:update', 'token:search'] },
        { ...rule, priority: 2, container: '/b/', permissions: ['token:search'] },
      ],
    )
    expect(await counts(words, { key: some })).toMatchObject({ found: 2, changed: 1, gone: 1 })
    expect(await find('data:1234')).toBe('near')
    expect(await find('data:v4lue-1234')).toBe('far read')
  })

  test('tells what is refused by its reason, without a value, and changes the others', async () => {
    const texts = Array.from({ length: 12 }, (_, at) => ({
      type: 'token' as const,
      data: `s3cret ${at}`,
    }))
    await vault.seed([{ id: 'num', type: 'token', data: 21 }, ...texts])
    const words = ['--where', '*', '--index', '{{ data | to_number | times: 2 }}']
    const { exitCode, stdout, stderr } = await run(words)
    expect([exitCode, stdout]).toEqual([
      6,
      '1 token got these search indexes; 0 had them before.\n',
    ])
    expect(stderr).toContain('12 tokens were refused, such as')
    expect(stderr).toContain('12 tokens were left unchanged')
    expect(stdout + stderr).not.toContain('s3cret')
    expect(await find('data:42')).toBe('num')
    const { refused } = (await counts(words)) as unknown as { refused: { ids: string[] }[] }
    expect(refused.map(({ ids }) => ids.length)).toEqual([10])
  })

  // proves C9.7
  test('loses no change and brings nothing back, whatever others do amid it', async () => {
    const old = { type: 'token' as const, search_indexes: ['{{ data }}'] }
    await vault.seed(
      ['a', 'b', 'c', 'd'].map(name => ({ ...old, id: `tok-${name}`, data: `old-${name}` })),
    )
    const { tokens } = vault.client()
    const address = throughProxy(async (method, path) => {
      if (method !== 'PATCH') return
      if (path === '/tokens/tok-b') await tokens.delete('tok-b')
      if (path === '/tokens/tok-c') {
        await tokens.update('tok-c', { data: 'new-sea', metadata: { by: 'other' } })
        // A token that comes amid a walk has a place above it.
        await tokens.create({ ...old, id: 'late', data: 'old-late' })
      }
    })
    const words = ['--where', 'type:token', '--index', '{{ data | slice: 0, 3 }}']
    const told = await counts(words, { address })
    expect(told).toMatchObject({ exitCode: 0, found: 4, changed: 3, gone: 1 })
    expect(await find('data:new')).toBe('tok-c')
    expect(await find('data:old')).toBe('tok-a tok-d')
    expect(await tokens.get('tok-c')).toMatchObject({ data: 'new-sea', metadata: { by: 'other' } })
    expect(await find('data:old-late')).toBe('late')
    expect(await counts(words)).toMatchObject({ changed: 1, unchanged: 3 })
  })

  test('that is killed has changed tokens or not, and goes on when it is run again', async () => {
    const count = 300
    await vault.seed(
      Array.from({ length: count }, (_, at) => ({
        type: 'token' as const,
        data: `old ${at}`,
        search_indexes: ['{{ data | slice: 0, 3 }}'],
      })),
    )
    const words = ['--where', 'data:old', '--index', '{{ data | upcase }}']
    let changes = 0
    const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>()
    const address = throughProxy(async method => {
      if (method !== 'PATCH') return
      changes += 1
      if (changes <= 100) return
      hold()
      await new Promise(() => undefined)
    })
    const child = Bun.spawn([...cofferCommand, 'token', 'reindex', ...words], {
      env: { PATH: process.env['PATH'], ...envOf({ address }) },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    await isHeld
    child.kill('SIGKILL')
    await child.exited
    const left = (await vault.client().tokens.searchPage({ query: 'data:old' })).pagination
    expect(left.total_items).toBeGreaterThanOrEqual(count - 100)
    expect(left.total_items).toBeLessThan(count)
    // The query no longer finds a token that was changed.
    const again = (await counts(words)) as { found?: number }
    expect(again).toMatchObject({ exitCode: 0, changed: again.found, gone: 0, refused: [] })
    // Writes that were under way when it was killed may have landed since.
    expect(again.found).toBeWithin(count - 100, left.total_items + 1)
    for (const at of [0, 150, count - 1]) expect(await find(`data:"old ${at}"`)).not.toBe('')
    expect(await find('data:old')).toBe('')
  })

  test('says how far it was when its key ends amid it', async () => {
    await vault.seed(Array.from({ length: 40 }, () => ({ type: 'token', data: 'x' }) as const))
    const permissions = ['token:update', 'token:search'] as const
    const rule = { priority: 1, container: '/', transform: 'reveal', permissions } as const
    const { id, key } = await vault.application({ type: 'private', rules: [rule] })
    let changes = 0
    const address = throughProxy(async method => {
      if (method !== 'PATCH') return
      changes += 1
      if (changes === 20) await vault.client('management').applications.delete(id)
    })
    const words = ['--where', '*', '--index', '{{ data }}']
    const told = await counts(words, { key, address })
    const { total_items: found } = (await vault.client().tokens.searchPage({ query: 'data:x' }))
      .pagination
    expect(told).toMatchObject({ exitCode: 3, found: 40, changed: found, gone: 0, refused: [] })
    expect(found).toBeLessThan(40)
  })
})
