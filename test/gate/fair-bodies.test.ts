/**
 * A caller who brings much work waits for itself: others are answered between its pieces. Counted
 * in the order of answers. Contract section 16.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { shortBodyBytesMax } from '../../src/limits/limits.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

let vault: TestVault
let greedy: string
let honest: string

beforeAll(async () => {
  vault = await openTestVault(182)
  greedy = await vault.application({ type: 'public', permissions: ['token:create'] })
  honest = await vault.application({ type: 'private', permissions: ['token:create'] })
})

/** Each is evaluated for some 2 million steps. */
const index =
  "{{ data | replace: 'a', 'bbbbbbbb' | replace: 'b', 'cccccccc' | replace: 'c', 'dddd' | size }}"
const item = { type: 'token', data: 'a'.repeat(400), search_indexes: [index] }
const honestItems = 25_000

// proves C16.7, E10.12
test.each([
  ['long bodies', 100_000],
  ['short bodies', 1],
])('E10.12: after 15 costly %s of one credential comes one of another', async (_, bytes) => {
  const costly = [...Array.from({ length: 20 }, () => item), 'x'.repeat(bytes)]
  expect(JSON.stringify(costly).length > shortBodyBytesMax).toBe(bytes > shortBodyBytesMax)
  const order: string[] = []
  const send = async (name: string, key: string, path: string, body: unknown) => {
    const { status } = await vault.ask('POST', path, { key, body })
    expect([200, 201]).toContain(status)
    order.push(name)
  }
  const all = Array.from({ length: 15 }, () => send('greedy', greedy, '/tokenize', costly))
  const plain = { type: 'token', data: 'x'.repeat(honestItems).split('') }
  await Promise.all([...all, send('honest', honest, '/tokens', plain)])
  expect(order).toHaveLength(16)
  expect(order.indexOf('honest')).toBeLessThan(4)
})

// proves E10.15
test.each([
  ['while others of its credential wait, begins with a turn', true, 3],
  ['else takes one after each costly piece', false, 2],
])('E10.15: a short costly create %s', async (_, isWaiting, expected) => {
  let taken = 0
  const next = () => {
    taken += 1
    return Promise.resolve()
  }
  const turns = { ...vault.deps.turns, next, isWaiting: () => isWaiting }
  const app = buildApp({ ...vault.deps, turns })
  const create = async (body: object) => {
    taken = 0
    const { status } = await app.handle(requestOf('POST', '/tokens', { key: greedy, body }))
    return [status, taken]
  }
  const costly = index.replace('| size', `| slice: 0, ${30 + expected}`)
  const words = Array.from({ length: 7 }, () => "split: ' ' | join: ' '").join(' | ')
  const item = { type: 'token', data: 'a'.repeat(400) }
  expect(await create(item)).toEqual([201, isWaiting ? 1 : 0])
  expect(await create({ ...item, id: costly, fingerprint_expression: costly })).toEqual([
    201,
    expected,
  ])
  // An id alone, and one that is refused for its work: one piece each.
  expect(
    await create({ ...item, id: index.replace('| size', `| slice: 0, 5${expected}`) }),
  ).toEqual([201, isWaiting ? 2 : 1])
  const refused = { type: 'token', data: 'a '.repeat(6_000), mask: null }
  expect(await create({ ...refused, fingerprint_expression: `{{ data | ${words} }}` })).toEqual([
    400,
    isWaiting ? 2 : 1,
  ])
})
