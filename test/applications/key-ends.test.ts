/**
 * A key that ends makes none that ends later. Source: contract section 13.
 * @module
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type Answer, type TestVault } from '../support/vault.ts'

const minuteMs = 60_000

let vault: TestVault
let lasting: string
/** Key of a management application; it ends ten minutes later. */
let brief: string
let managerId: string
let endMs: number

const at = (ms: number): string => new Date(ms).toISOString().replace('Z', '+00:00')

async function answered(answer: Promise<Answer>, status: number): Promise<Answer['body']> {
  const { status: got, body, text } = await answer
  expect([got, got === status ? '' : text]).toEqual([status, ''])
  return body
}

const ask = (path: string, key: string, body?: object) =>
  vault.ask('POST', path, body === undefined ? { key } : { key, body })

const statusOf = async (by: string): Promise<number> =>
  (await vault.ask('GET', '/applications/key', { key: by })).status

const privateOne = { name: 'made', type: 'private', permissions: ['token:read'] }

beforeEach(async () => {
  vault = await openTestVault(641)
  lasting = vault.managementKey
  const own = await answered(vault.ask('GET', '/applications/key', { key: lasting }), 200)
  managerId = String(own['id'])
  endMs = vault.clock.now() + 10 * minuteMs
  const made = ask(`/applications/${managerId}/keys`, lasting, { expires_at: at(endMs) })
  brief = String((await answered(made, 201))['key'])
})

async function expectEndsWithBrief(made: string): Promise<void> {
  vault.clock.advance(endMs - vault.clock.now() - 1)
  expect([await statusOf(brief), await statusOf(made)]).toEqual([200, 200])
  vault.clock.advance(1)
  expect([await statusOf(brief), await statusOf(made)]).toEqual([401, 401])
  expect(await statusOf(lasting)).toBe(200)
}

describe('made by a key that ends,', () => {
  // proves C15.11, S26
  test.each([undefined, { expires_at: null }, {}])('a further key ends with it: %j', async body => {
    const made = await answered(ask(`/applications/${managerId}/keys`, brief, body), 201)
    expect(made['expires_at']).toBe(at(endMs))
    await expectEndsWithBrief(String(made['key']))
  })

  // proves C15.11, E24.5, S26
  test('a further key ends earlier where that is asked for, and never later', async () => {
    const path = `/applications/${managerId}/keys`
    const asked = (ms: number) => ask(path, brief, { expires_at: at(ms) })
    for (const laterMs of [1, minuteMs]) {
      expectProblem(await asked(endMs + laterMs), 400, ['expires_at'], ['key_'])
    }
    expect((await answered(asked(endMs), 201))['expires_at']).toBe(at(endMs))
    const earlier = await answered(asked(endMs - minuteMs), 201)
    expect(earlier['expires_at']).toBe(at(endMs - minuteMs))
    const again = ask(path, String(earlier['key']), { expires_at: at(endMs) })
    expectProblem(await again, 400, ['expires_at'], ['key_'])
  })

  // proves C15.11, E24.5, S26
  test('the key of a new application ends with it, and the application goes on', async () => {
    const made = await answered(ask('/applications', brief, privateOne), 201)
    expect(Object.hasOwn(made, 'expires_at')).toBe(false)
    const path = `/applications/${String(made['id'])}/keys`
    const keys = await vault.ask('GET', path, { key: lasting })
    expect(keys.body as unknown).toMatchObject([{ version: '1', expires_at: at(endMs) }])
    await expectEndsWithBrief(String(made['key']))
    const next = await answered(ask(path, lasting), 201)
    expect(await statusOf(String(next['key']))).toBe(200)
  })

  // proves C15.11
  test('a new application that ends later is refused, an earlier one is not', async () => {
    const asked = (ms: number) => ask('/applications', brief, { ...privateOne, expires_at: at(ms) })
    expectProblem(await asked(endMs + 1), 400, ['expires_at'], ['key_'])
    const made = await answered(asked(endMs - minuteMs), 201)
    vault.clock.advance(9 * minuteMs)
    expect(await statusOf(String(made['key']))).toBe(401)
  })

  // proves C15.11, E24.5, S26
  test('a regenerated key ends with it', async () => {
    const { id } = await answered(ask('/applications', lasting, privateOne), 201)
    const made = await answered(ask(`/applications/${String(id)}/regenerate`, brief), 200)
    await expectEndsWithBrief(String(made['key']))
  })

  // proves C15.17, S26
  test('a regenerated key leaves no vault without a manager', async () => {
    const path = `/applications/${managerId}/regenerate`
    expectProblem(await ask(path, brief), 409, undefined, ['key_'])
    expect(await statusOf(lasting)).toBe(200)
    const manager = { name: 'other', type: 'management', permissions: ['application:create'] }
    await answered(ask('/applications', lasting, manager), 201)
    const made = await answered(ask(path, brief), 200)
    expect([await statusOf(lasting), await statusOf(String(made['key']))]).toEqual([401, 200])
  })
})

test('an application that ends makes no key that ends later', async () => {
  const permissions = ['application:create', 'application:read', 'key:rotate']
  const manager = { name: 'brief', type: 'management', permissions, expires_at: at(endMs) }
  const key = String((await answered(ask('/applications', lasting, manager), 201))['key'])
  const made = await answered(ask('/applications', key, privateOne), 201)
  await expectEndsWithBrief(String(made['key']))
})

// proves C15.11
test('a session says that it ends with the key that creates it', async () => {
  const page = { name: 'page', type: 'public', permissions: ['token:create'] }
  const { id } = await answered(ask('/applications', lasting, page), 201)
  const soonMs = vault.clock.now() + minuteMs
  const path = `/applications/${String(id)}/keys`
  const made = await answered(ask(path, lasting, { expires_at: at(soonMs) }), 201)
  const session = await answered(ask('/sessions', String(made['key'])), 201)
  expect(session['expires_at']).toBe(at(soonMs))
})

test('made by a key that lasts, a key lasts unless it is asked to end', async () => {
  const made = await answered(ask('/applications', lasting, privateOne), 201)
  const path = `/applications/${String(made['id'])}/keys`
  const next = await answered(ask(path, lasting), 201)
  expect(Object.hasOwn(next, 'expires_at')).toBe(false)
  const later = { expires_at: at(endMs + minuteMs) }
  expect((await answered(ask(path, lasting, later), 201))['expires_at']).toBe(later.expires_at)
})
