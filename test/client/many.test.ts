/**
 * Many tokens with the typed client: deleted, listed up to a limit, and sent in chunks.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { CofferError, type Fetch, type Progress } from '../../src/client/index.ts'
import { openServed } from './served.ts'

const { clientOf } = await openServed(10, { requestsPerSecondMax: 1_000_000 })
const { tokens, tokenize, tokenizeEach } = clientOf('private')

const listed = async <T>(walk: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = []
  for await (const item of walk) items.push(item)
  return items
}

const noteOf = (order: string, data: string) =>
  ({ type: 'token', data, metadata: { order } }) as const

describe('many tokens', () => {
  test('exist or not, and other refusals are told', async () => {
    const { id } = await tokens.create({ type: 'token', data: 1 })
    expect(await tokens.exists(id)).toBe(true)
    expect(await tokens.exists('absent')).toBe(false)
    await expect(clientOf('public').tokens.exists(id)).rejects.toMatchObject({ code: 'forbidden' })
  })

  test('are deleted by their ids, and again without harm', async () => {
    const ids = await tokenize(Array.from({ length: 30 }, (_, at) => `many ${at}`))
    expect(await tokens.deleteMany([...ids, 'absent'])).toEqual({ deleted: 30, missing: 1 })
    expect(await tokens.deleteMany(new Set(ids))).toEqual({ deleted: 0, missing: 30 })
    expect(await tokens.deleteMany([])).toEqual({ deleted: 0, missing: 0 })
    await expect(clientOf('public').tokens.deleteMany(ids)).rejects.toMatchObject({
      code: 'forbidden',
    })
  })

  test('are deleted where a search finds them, over all stretches, and no others', async () => {
    const kept = await tokens.create(noteOf('kept', 'kept'))
    await tokenize(Array.from({ length: 130 }, (_, at) => noteOf('gone', `${at}`)))
    expect(await tokens.deleteWhere('metadata.order:gone')).toEqual({ deleted: 130, missing: 0 })
    expect(await listed(tokens.search('metadata.order:gone'))).toEqual([])
    expect(await tokens.exists(kept.id)).toBe(true)
  })

  // proves E27.3
  test.each([
    '17 OR type:token',
    '17" OR type:token OR id:"17',
    '\\',
    '"',
    '17 OR *',
    '[* TO *]',
    'é\t',
  ])('are not deleted by more than a text in quotes: %j', async value => {
    const kept = await tokens.create(noteOf('kept', 'one'))
    const query = `metadata.order:${JSON.stringify(value)}`
    const told = await tokens.deleteWhere(query).catch((error: unknown) => error)
    if (told instanceof CofferError) expect(told.code).toBe('invalid_request')
    else expect(told).toEqual({ deleted: 0, missing: 0 })
    expect(await tokens.exists(kept.id)).toBe(true)
  })

  test('are listed and found up to a limit, with no more than are asked for', async () => {
    await tokenize(Array.from({ length: 7 }, (_, at) => noteOf('few', `${at}`)))
    const sizes: unknown[] = []
    const noting: Fetch = (url, init) => {
      const body = typeof init.body === 'string' ? (JSON.parse(init.body) as object) : {}
      sizes.push('size' in body ? body.size : Number(new URL(url).searchParams.get('size')))
      return fetch(url, init)
    }
    const { tokens: noted, applications } = clientOf('private', { fetch: noting })
    const filter = { metadata: { order: 'few' } }
    expect(await listed(noted.list({ ...filter, limit: 3 }))).toHaveLength(3)
    expect(await listed(noted.list({ ...filter, size: 2, limit: 5 }))).toHaveLength(5)
    const query = 'metadata.order:few'
    expect(await listed(noted.search({ query, size: 4 }))).toHaveLength(7)
    expect(sizes).toEqual([3, 2, 2, 2, 4, 4])
    await expect(listed(applications.list({ limit: 1 }))).rejects.toMatchObject({
      code: 'forbidden',
    })
    const { applications: all, sessions } = clientOf('management')
    expect(await listed(all.list({ limit: 2 }))).toHaveLength(2)
    for (let at = 0; at < 2; at += 1) await clientOf('public').sessions.create()
    expect(await listed(sessions.list({ size: 1, limit: 1 }))).toHaveLength(1)
  })
})

describe('a list in chunks', () => {
  const bad = { type: 'card', data: { number: '1' } }
  const rows = Array.from({ length: 25 }, (_, at) => (at === 13 ? bad : noteOf('chunk', `${at}`)))

  test('has a result for each row at its place, and tells how far it is', async () => {
    const told: Progress[] = []
    const onProgress = (progress: Progress) => void told.push(progress)
    const { results, retry } = await tokenizeEach(rows, { chunkSize: 10, onProgress })
    expect(results.map(({ index, path }) => [index, path])).toEqual(
      rows.map((_, at) => [at, `[${at}]`]),
    )
    expect(results.map(({ status }) => status === 201)).toEqual(rows.map(row => row !== bad))
    expect(retry).toEqual([bad])
    expect(told.map(({ done, total }) => [done, total])).toEqual([
      [10, 25],
      [20, 25],
      [25, 25],
    ])
    expect(told.flatMap(progress => progress.results)).toEqual([...results])
    const [first] = results
    expect(typeof first?.token === 'object' && first.token.created_at).toBeInstanceOf(Date)
  })

  test('is stored once under one key, however far it came before', async () => {
    const key = { idempotencyKey: 'import-17', chunkSize: 10 }
    const stop = () => {
      throw new Error('the power went')
    }
    await expect(tokenizeEach(rows, { ...key, onProgress: stop })).rejects.toThrow('the power')
    const first = await tokenizeEach(rows, key)
    const again = await tokenizeEach(rows, key)
    expect(again).toEqual(first)
    await tokens.deleteWhere('metadata.order:chunk')
  })

  test('counts the values of its rows, which a request has a bound for', async () => {
    const wide = Array.from({ length: 5 }, () => Array.from({ length: 600 }, (_, at) => at))
    const { results } = await tokenizeEach(wide)
    expect(results).toHaveLength(3_000)
    expect(results.at(-1)).toMatchObject({ index: 2_999, path: '[4][599]', status: 201 })
    expect(await tokenizeEach([])).toEqual({ results: [] })
  })

  test.each([
    [0, [1]],
    [1_001, [1]],
    [Number.NaN, [1]],
    [10, { a: 1 }],
  ])('of the size %p is not sent: %p', async (chunkSize, tree) => {
    await expect(tokenizeEach(tree, { chunkSize })).rejects.toThrow('chunkSize: expected')
  })
})
