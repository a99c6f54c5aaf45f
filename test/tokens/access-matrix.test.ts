/**
 * Every route, every kind of credential, inside and outside of its rules: the answer and the shown
 * part of the data; and the refusals beside each success.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  deadCredentials,
  liveCredentials,
  openAccessKit,
  type AccessKit,
  type Credential,
} from '../support/access/credentials.ts'
import {
  masked,
  operations,
  plaintext,
  type Operation,
  type Place,
  type Prepared,
} from '../support/access/operations.ts'
import { rows } from '../support/access/table.ts'
import type { Answer } from '../support/vault.ts'

let kit: AccessKit
beforeAll(async () => {
  kit = await openAccessKit()
})

function operationOf(route: string): Operation {
  const found = operations.find(operation => operation.route === route)
  if (found === undefined) throw new Error(`no operation ${route}`)
  return found
}

const keyOf = (by: Credential) => {
  const key = kit.keys[by]
  return key === undefined ? {} : { key }
}

const send = ({ request }: Prepared, by: Credential): Promise<Answer> =>
  kit.vault.ask(request.method, request.path, { ...request, ...keyOf(by) })

/** Nothing of the token is told, neither in clear nor masked. */
function expectNothingOf(answer: Answer, id: string | undefined): void {
  expect(answer.text).not.toContain(plaintext)
  expect(answer.text).not.toContain(masked)
  if (id !== undefined) expect(answer.text).not.toContain(`"${id}"`)
}

function expectProblem(answer: Answer, status: number): void {
  expect([answer.status, answer.body['status']]).toEqual([status, status])
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
}

const shown: Readonly<Record<string, (text: string) => void>> = {
  m(text) {
    expect(text).toContain(`"data":"${masked}"`)
    expect(text).not.toContain(plaintext)
  },
  x(text) {
    expect(text).not.toContain('"data":"')
    expect(text).not.toContain(plaintext)
    expect(text).not.toContain(masked)
  },
  r(text) {
    expect(text).toContain(`"data":"${plaintext}"`)
  },
}

/** Expects the members that a success must show of the token, and none that it must not. */
function expectShown(answer: Answer, cell: string, id: string | undefined): void {
  if (cell === 'ok' || cell === '-') return expectNothingOf(answer, id)
  expect(answer.text).toContain(`"id":"${id}"`)
  shown[cell]?.(answer.text)
}

const cells = rows.flatMap(({ route, place, cells: all }) =>
  liveCredentials.map(by => [route, place, by, all[by]] as const),
)

describe('the table of access', () => {
  test('names every route that the application has, and no other', async () => {
    const { body } = await kit.vault.ask('GET', '/swagger/json')
    const documented = Object.entries(body['paths'] as Record<string, object>).flatMap(
      ([path, methods]) => Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
    )
    const named = new Set(rows.map(({ route }) => route))
    expect([...named].toSorted()).toEqual(documented.toSorted())
    expect(operations.map(({ route }) => route).toSorted()).toEqual(documented.toSorted())
  })

  // proves A1.4, A1.5, A6.6, A10.1, A10.2, A10.3, A10.4, A10.5, A10.15, A12.1, A13.4, A13.5
  // proves C2.16, C2.17, C11.4, C11.14, C11.16, C12.13, C13.3, C14.6, H128, S42
  test.each(cells)('%s, target %s, by %s: %s', async (route, place, by, cell) => {
    const operation = operationOf(route)
    const prepared = await operation.prepare(kit, place)
    const answer = await send(prepared, by)
    const isRefused = /^[0-9]+$/.test(cell)
    expect(answer.status).toBe(isRefused ? Number(cell) : operation.success)
    if (!isRefused) return expectShown(answer, cell, prepared.id)
    expectProblem(answer, Number(cell))
    expectNothingOf(answer, prepared.id)
  })

  const dead = operations.flatMap(({ route }) => deadCredentials.map(by => [route, by] as const))

  // proves A1.5, C2.9, S41
  test.each(dead)('%s by %s: 401, with one body for all', async (route, by) => {
    const prepared = await operationOf(route).prepare(kit, 'in')
    const answer = await send(prepared, by)
    expectProblem(answer, 401)
    expectNothingOf(answer, prepared.id)
    const none = await send(prepared, 'none')
    const { instance: _, ...body } = none.body
    expect(answer.body).toMatchObject(body)
  })
})

/** Returns a caller that may do it in full, for the refusals beside its success. */
const ableOf = (route: string): Credential => {
  const able = rows.find(row => row.route === route)
  const found = liveCredentials.find(by => !/^[0-9-]+$/.test(able?.cells[by] ?? '403'))
  if (found === undefined) throw new Error(`nobody may do ${route}`)
  return found
}

const forbiddenTo = (route: string): Credential | undefined =>
  liveCredentials.find(by => rows.find(row => row.route === route)?.cells[by] === '403')

const withBody = operations.filter(({ hasBody }) => hasBody).map(({ route }) => route)

async function prepare(route: string, place: Place = 'in') {
  const { request, ...rest } = await operationOf(route).prepare(kit, place)
  const { body, ...bare } = request
  return { ...rest, bare, content: JSON.stringify(body) }
}

describe('a request that may be made, with a body that may not', () => {
  test.each(withBody)('%s: broken JSON is 400', async route => {
    const { bare, content } = await prepare(route)
    const request = { ...bare, raw: content.slice(0, -1) }
    expectProblem(await send({ request }, ableOf(route)), 400)
    expect((await send({ request: { ...bare, raw: content } }, ableOf(route))).status).toBe(
      operationOf(route).success,
    )
  })

  // proves C1.23
  test.each(withBody)('%s: another content type is 415', async route => {
    const { bare, content } = await prepare(route)
    const request = { ...bare, raw: content, type: 'text/plain' }
    expectProblem(await send({ request }, ableOf(route)), 415)
  })

  // proves C16.1
  test.each(withBody)('%s: a body over the limit is 413', async route => {
    const { bare, content } = await prepare(route)
    const request = { ...bare, raw: content + ' '.repeat(1024 * 1024) }
    expectProblem(await send({ request }, ableOf(route)), 413)
  })

  // proves C2.15
  test.each(withBody)('%s: a bad body is 401 without a key, 403 without the right', async route => {
    const { bare } = await prepare(route)
    const request = { ...bare, raw: '{', type: 'text/plain' }
    expectProblem(await send({ request }, 'none'), 401)
    const forbidden = forbiddenTo(route)
    if (forbidden !== undefined) expectProblem(await send({ request }, forbidden), 403)
  })
})

describe('a token that no rule covers', () => {
  const byId = rows.filter(({ cells: all }) => all.reveal === '404').map(({ route }) => route)

  // proves C2.13, H130
  test.each(byId)('%s answers as for one that is absent', async route => {
    const { bare, content, id } = await prepare(route, 'out')
    const body = content === undefined ? {} : { raw: content }
    const hidden = await send({ request: { ...bare, ...body } }, 'reveal')
    const path = bare.path.replace(id ?? '', 'out-absent')
    const absent = await send({ request: { ...bare, path, ...body } }, 'reveal')
    expect([hidden.status, absent.status]).toEqual([404, 404])
    const { instance: _, ...shownOf } = absent.body
    expect(hidden.body).toMatchObject(shownOf)
    expect(Object.keys(hidden.body)).toEqual(Object.keys(absent.body))
  })
})
