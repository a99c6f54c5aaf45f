/**
 * An error that not even the exit for errors has caught: the server's own answer would print it.
 * @module
 */
import { expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { canary } from '../support/refusal.ts'
import { openTestVault } from '../support/vault.ts'

test('an error thrown at the server answers like every fault, and shows no message', async () => {
  const vault = await openTestVault(161)
  const fail = (): never => {
    throw new TypeError(`${canary}\n    at ${canary} (${canary}.ts:1:1)`)
  }
  const { listener } = buildApp(vault.deps)
  const routes = { '/now': fail, '/later': () => Bun.sleep(1).then(fail) }
  const server = Bun.serve({ ...listener, routes, port: 0, development: false })
  for (const path of ['now', 'later']) {
    const answer = await fetch(server.url + path)
    const text = await answer.text()
    expect(answer.status).toBe(500)
    expect(answer.headers.get('content-type')).toStartWith('application/problem+json')
    expect(JSON.parse(text)).toMatchObject({ status: 500, title: 'Internal Server Error' })
    const { instance } = JSON.parse(text) as { instance: string }
    const logged = vault.logged.pop() ?? ''
    expect(logged).toContain(instance.slice('urn:trace:'.length))
    expect(logged).toContain('TypeError | at fail')
    expect(text + logged + [...answer.headers].join()).not.toContain(canary)
  }
  await server.stop()
})
