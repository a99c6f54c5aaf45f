/**
 * A body that has come in whole, and waits for others to be worked on.
 * @module
 */
import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { makePipeline, routesOf } from '../../src/coffer.ts'
import {
  parsedBodiesBytesMax,
  parsedBodiesSpareBytes,
  shortBodyBytesMax,
} from '../../src/limits/limits.ts'
import { turnOwner } from '../support/turn-owner.ts'
import { openTestVault } from '../support/vault.ts'

test('keeps its connection, which idles meanwhile, and is answered in its turn', async () => {
  const vault = await openTestVault(82)
  const key = await vault.application({ type: 'private', permissions: ['token:create'] })
  const shared = makePipeline(vault.deps)
  const waiting = Promise.withResolvers<void>()
  const bodyBudget: typeof shared.bodyBudget = owner => {
    const lease = shared.bodyBudget(owner)
    const begin = (bytes: number) => {
      waiting.resolve()
      return lease.begin(bytes)
    }
    return { ...lease, begin }
  }
  const pipeline = { ...shared, bodyBudget }
  const times: number[] = []
  pipeline.server.origins = {
    requestIP: () => null,
    timeout: (_, seconds) => times.push(seconds),
  }
  const others = shared.bodyBudget(turnOwner(0))
  await others.begin(parsedBodiesBytesMax + parsedBodiesSpareBytes)
  const body = JSON.stringify({ type: 'token', data: 'a'.repeat(shortBodyBytesMax) })
  const headers = { 'svc-api-key': key, 'content-type': 'application/json' }
  const app = new Elysia().use(routesOf(vault.deps, pipeline))
  const request = new Request('http://localhost/tokens', { method: 'POST', headers, body })
  const answer = Promise.resolve(app.handle(request))
  await waiting.promise
  pipeline.inFlight.keepOpen()
  expect([times, pipeline.inFlight.underWay()]).toEqual([[0], 1])
  others.release()
  expect((await answer).status).toBe(201)
})
