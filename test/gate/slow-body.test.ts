/**
 * A credential that changes while a body is on its way.
 * @module
 */
import { expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { callerNowMs } from '../../src/limits/work-limits.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

/** A request whose body ends when the test says. */
function slowly(vault: TestVault, key: string, path: string, [first = '', last = '']: string[]) {
  let end: () => void = () => {}
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.from(first))
      end = () => {
        controller.enqueue(Buffer.from(last))
        controller.close()
      }
    },
  })
  const headers = { 'svc-api-key': key, 'content-type': 'application/json' }
  const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body })
  return { answer: Promise.resolve(buildApp(vault.deps).handle(request)), end }
}

const slowCreate = (vault: TestVault, key: string) =>
  slowly(vault, key, '/tokens', ['{"type":"token",', '"data":1}'])

async function makeWriter(permission = 'token:create') {
  const vault = await openTestVault(81)
  const key = await vault.application({ type: 'private', permissions: [permission] })
  const { body } = await vault.ask('GET', '/applications/key', { key })
  return { vault, key, path: `/applications/${String(body['id'])}` }
}

test('a key whose application was only renamed meanwhile still writes', async () => {
  const { vault, key, path } = await makeWriter()
  const { answer, end } = slowCreate(vault, key)
  await Bun.sleep(1)
  const renamed = { name: 'renamed', permissions: ['token:create'] }
  const managed = { key: vault.managementKey }
  expect((await vault.ask('PUT', path, { ...managed, body: renamed })).status).toBe(200)
  end()
  expect((await answer).status).toBe(201)
})

test('a key whose permission was taken meanwhile, or that was deleted, does not', async () => {
  const { vault, key, path } = await makeWriter()
  const managed = { key: vault.managementKey }
  const disarmed = slowCreate(vault, key)
  await Bun.sleep(1)
  const reader = { name: 'reader', permissions: ['token:read'] }
  expect((await vault.ask('PUT', path, { ...managed, body: reader })).status).toBe(200)
  disarmed.end()
  expect((await disarmed.answer).status).toBe(403)
  const writer = { name: 'writer', permissions: ['token:create'] }
  await vault.ask('PUT', path, { ...managed, body: writer })
  const deleted = slowCreate(vault, key)
  await Bun.sleep(1)
  expect((await vault.ask('DELETE', path, managed)).status).toBe(204)
  deleted.end()
  expect((await deleted.answer).status).toBe(401)
})

test('a key that was deleted while a body took its time reads nothing either', async () => {
  const { vault, key, path } = await makeWriter('token:search')
  const search = slowly(vault, key, '/tokens/search', ['{"query":', '"type:token"}'])
  await Bun.sleep(1)
  expect((await vault.ask('DELETE', path, { key: vault.managementKey })).status).toBe(204)
  vault.clock.advance(callerNowMs)
  search.end()
  expect((await search.answer).status).toBe(401)
})
