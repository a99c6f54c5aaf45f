/**
 * Short bodies may be as much work as 15 ms, so hundreds that come at once begin a few at a time.
 */
import { expect, test } from 'bun:test'
import { briefBodyBytesMax } from '../../src/limits/work-limits.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { openTestVault, requestOf } from '../support/vault.ts'

// proves E10.31
test('a body of more than a kilobyte waits for others, as a list does', async () => {
  const vault = await openTestVault(771)
  const permissions = ['token:create', 'token:read']
  const key = await vault.application({ type: 'private', permissions })
  let isFree = false
  let asked = 0
  const soon = () => {
    asked += 1
    return isFree ? undefined : new Promise<void>(resolve => waiting.push(resolve))
  }
  const waiting: (() => void)[] = []
  const app = buildApp({ ...vault.deps, turns: { ...vault.deps.turns, soon } })
  const create = (data: string) =>
    app.handle(requestOf('POST', '/tokens', { key, body: { type: 'token', data } }))
  const long = 'x'.repeat(briefBodyBytesMax)

  expect((await create('x')).status).toBe(201)
  expect(asked).toBe(0)
  for (const ask of [() => create(long), () => app.handle(requestOf('GET', '/tokens', { key }))]) {
    let status = 0
    const answering = ask().then(answer => void (status = answer.status))
    while (waiting.length === 0 && status === 0) await Bun.sleep(1)
    await Bun.sleep(5)
    expect(status).toBe(0)
    isFree = true
    waiting.pop()?.()
    await answering
    expect([200, 201]).toContain(status)
    isFree = false
  }
})

// proves E10.31
test('so does a filter on the data of a long token', async () => {
  const vault = await openTestVault(772)
  const permissions = ['token:create', 'token:use']
  const rule = { description: '', priority: 1, container: '/', transform: 'reveal', permissions }
  const key = await vault.application({ type: 'private', permissions: [], rules: [rule] })
  const list = Array.from({ length: 10_000 }, () => 1)
  for (const [id, data] of [
    ['long', list],
    ['short', [1]],
  ])
    expect(
      (await vault.ask('POST', '/tokens', { key, body: { id, type: 'token', data } })).status,
    ).toBe(201)
  let asked = 0
  const soon = () => void (asked += 1)
  const app = buildApp({ ...vault.deps, turns: { ...vault.deps.turns, soon } })
  const use = async (text: string) => {
    asked = 0
    const answer = await app.handle(requestOf('POST', '/detokenize', { key, body: { a: text } }))
    expect(answer.status).toBe(200)
    await answer.text()
    return asked
  }
  expect(await use('{{ long | size }}')).toBe(1)
  expect(await use('{{ long }}')).toBe(0)
  expect(await use('{{ short | size }}')).toBe(0)
})

// proves E10.31
test('so does a read that evaluates a mask', async () => {
  const vault = await openTestVault(773)
  const permissions = ['token:create', 'token:read']
  const key = await vault.application({ type: 'private', permissions })
  const line = 'x'.repeat(100)
  const masks = { short: line, long: Array.from({ length: 10 }, () => line) }
  for (const [id, mask] of Object.entries(masks)) {
    const body = { id, type: 'token', data: [1], mask }
    expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(201)
  }
  let asked = 0
  const soon = async () => void (asked += 1)
  const app = buildApp({ ...vault.deps, turns: { ...vault.deps.turns, soon } })
  const read = async (path: string) => {
    asked = 0
    const answer = await app.handle(requestOf('GET', path, { key }))
    expect(answer.status).toBe(200)
    return { asked, data: ((await answer.json()) as { data?: unknown }).data }
  }
  expect(await read('/tokens/long')).toEqual({ asked: 1, data: masks.long })
  expect(await read('/tokens/short')).toEqual({ asked: 0, data: masks.short })
  expect(await read('/tokens/long?transform=redact')).toEqual({ asked: 0, data: undefined })
})
