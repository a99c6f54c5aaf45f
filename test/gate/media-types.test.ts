/**
 * Content types that a body may have, and bodies that do not matter. Contract section 1; group A of
 * docs/hostile-inputs.md.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { canary } from '../support/refusal.ts'
import { expectUnharmed, openWire, requestText, type Wire } from '../support/wire.ts'

let wire: Wire
beforeAll(async () => {
  wire = await openWire(105)
  await wire.ask('POST', '/tokens', '{"id":"typed","type":"token","data":{"a":1}}')
})
afterAll(() => wire.close())

const body = `{"type":"token","data":"${canary}"}`

const ask = async (method: string, target: string, type: string | undefined, sent = body) => {
  const headers = type === undefined ? {} : { 'Content-Type': type }
  const text = requestText(method, target, { 'SVC-API-KEY': wire.key, ...headers }, sent)
  const received = await wire.send(text)
  return { status: received.answers[0]?.status, received }
}

describe('POST takes JSON', () => {
  // proves A1.1, A10.6, C1.23, H17, H18
  test.each([
    [undefined],
    [''],
    ['application/xml'],
    ['text/plain'],
    ['multipart/form-data; boundary=x'],
    ['application/x-www-form-urlencoded'],
    ['application/jsonp'],
    ['application/json-patch+json'],
    ['application/merge-patch+json'],
    ['application/json; charset=utf-16'],
    ['application/json, text/plain'],
    ['application/jsonx'],
    ['text/json'],
  ])('H17, H18: and refuses it as %p', async type => {
    const { status, received } = await ask('POST', '/tokens', type)
    expect(status).toBe(415)
    await expectUnharmed(wire, received)
  })

  // proves A10.6
  test.each([
    ['application/json'],
    ['APPLICATION/JSON'],
    ['application/json; charset=utf-8'],
    ['application/json; charset=UTF8'],
    ['application/json;charset="UTF-8"'],
    ['application/json ; x=y'],
  ])('as %p', async type => {
    expect((await ask('POST', '/tokens', type, '{"type":"token","data":1}')).status).toBe(201)
  })
})

describe('PATCH takes a merge patch', () => {
  const patch = (type: string | undefined) =>
    ask('PATCH', '/tokens/typed', type, `{"metadata":{"a":"${canary}"}}`)

  // proves A10.17, H19
  test.each([
    [undefined],
    ['application/json'],
    ['application/json-patch+json'],
    ['application/merge-patch+json;charset=utf-16'],
    ['application/merge-patch+json, application/json'],
  ])('H19: and refuses it as %p', async type => {
    const { status, received } = await patch(type)
    expect(status).toBe(415)
    await expectUnharmed(wire, received)
  })

  // proves H19
  test('H19: and refuses it as two types at once', async () => {
    const { status } = await patch('application/merge-patch+json\r\nContent-Type: application/json')
    expect(status).toBe(415)
  })

  // proves C1.26, H20
  test('H20: in any case, with its parameters', async () => {
    expect((await patch('Application/Merge-Patch+JSON ; charset=UTF-8')).status).toBe(200)
  })
})

describe('a body where none is taken', () => {
  // proves A12.13, C1.25
  test.each([[undefined], ['application/x-www-form-urlencoded'], ['application/xml'], ['x']])(
    'is ignored as %p',
    async type => {
      const key = { 'SVC-API-KEY': wire.vault.managementKey }
      const made = await wire.vault.ask('POST', '/applications', {
        key: wire.vault.managementKey,
        body: { name: 'to regenerate', type: 'public', permissions: ['token:create'] },
      })
      const target = `/applications/${String(made.body['id'])}/regenerate`
      const headers = type === undefined ? key : { ...key, 'Content-Type': type }
      for (const sent of ['', `<${canary}`]) {
        const received = await wire.send(requestText('POST', target, headers, sent))
        expect(received.answers[0]?.status).toBe(200)
        await expectUnharmed(wire, received)
      }
    },
  )

  test('is ignored on GET and DELETE', async () => {
    expect((await ask('GET', '/tokens/typed', 'text/plain', 'not JSON')).status).toBe(200)
    expect((await ask('DELETE', '/tokens/absent', 'application/json', '[')).status).toBe(404)
  })
})

test('the type is looked at after the key and the permission, and before the body', async () => {
  const wrong = { 'Content-Type': 'text/plain' }
  const statusOf = async (key: Record<string, string>, target = '/tokens') =>
    (await wire.send(requestText('POST', target, { ...wrong, ...key }, '['))).answers[0]?.status
  expect(await statusOf({})).toBe(401)
  expect(await statusOf({ 'SVC-API-KEY': wire.vault.managementKey })).toBe(403)
  expect(await statusOf({ 'SVC-API-KEY': wire.key })).toBe(415)
})
