/**
 * Commands of another tenant: whatever it asks for by id is not there, and nothing changes.
 * @module
 */
import fc from 'fast-check'
import { failed } from '../access.ts'
import { pickOf, picks } from '../arbitraries.ts'
import { commandsOf } from '../command.ts'
import { expectAnswer, send } from '../server.ts'
import { targetOf, targets } from './tokens.ts'

export const strangersOfTokens = commandsOf({
  name: 'ask for a token as a stranger',
  input: fc.record({ method: fc.constantFrom('GET', 'PATCH', 'DELETE'), target: targets }),
  async run(model, server, { method, target }) {
    const path = `/tokens/${encodeURIComponent(targetOf(model, target))}`
    const body = method === 'PATCH' ? { data: 'taken' } : undefined
    expectAnswer(model, await send(server, method, path, server.strangerKey, body), failed(404))
  },
})

const applicationRequests = [
  ['GET', '', undefined],
  ['PUT', '', { name: 'taken', permissions: ['token:create'] }],
  ['POST', '/regenerate', undefined],
  ['DELETE', '', undefined],
] as const

export const strangersOfApplications = commandsOf({
  name: 'ask for an application as a stranger',
  input: fc.record({ request: fc.constantFrom(...applicationRequests), pick: picks }),
  async run(model, server, { request, pick }) {
    const [method, rest, body] = request
    const path = `/applications/${pickOf([...model.applications.keys()], pick) ?? 'absent'}${rest}`
    const key = server.strangerManagementKey
    expectAnswer(model, await send(server, method, path, key, body), failed(404))
  },
})
