/**
 * Commands on one token.
 * @module
 */
import fc from 'fast-check'
import { bodyOf, newTokens, picks, pickOf, tokenPatches } from '../arbitraries.ts'
import { keyOf, tokenCallers } from '../callers.ts'
import { commandsOf } from '../command.ts'
import { ids } from '../samples.ts'
import { unsealToken } from '../../../src/tokens/token-record.ts'
import { tokenUnique } from '../../../src/tokens/token-id.ts'
import type { Answer } from '../../support/vault.ts'
import { expectAnswer, send, type Server } from '../server.ts'
import type { Model } from '../state.ts'
import { createToken, deleteToken, getToken, patchToken, useToken } from '../tokens.ts'

/** Mostly a token that is or was there; else one of the ids that tokens are often given. */
export const targets = fc.record({ luck: fc.nat({ max: 7 }), pick: picks })

type Target = typeof targets extends fc.Arbitrary<infer Input> ? Input : never

export const targetOf = (model: Model, { luck, pick }: Target): string =>
  pickOf(luck > 0 && model.tokens.size > 0 ? [...model.tokens.keys()] : ids, pick) ?? 'absent'

const pathOf = (id: string): string => `/tokens/${encodeURIComponent(id)}`

/** Returns the server's choices, also if the answer leaves the fingerprint out. */
async function chosenIn({ vault }: Server, { tenantId }: Model, { status, body }: Answer) {
  if (status >= 300 || 'fingerprint' in body) return body
  const { keys, store } = vault.deps
  const row = await store.find(tokenUnique(keys, tenantId, String(body['id'])))
  if (row === undefined) return body
  return { ...body, fingerprint: unsealToken(keys, tenantId, row).record.fingerprint }
}

export const createTokens = commandsOf({
  name: 'create token',
  input: fc.record({ by: tokenCallers, token: newTokens }),
  async run(model, server, { by, token }) {
    const key = keyOf(model, by)
    const body = bodyOf(model, token)
    const answer = await send(server, 'POST', '/tokens', key, body)
    expectAnswer(
      model,
      answer,
      createToken(model, key, body, await chosenIn(server, model, answer)),
    )
  },
})

export const getTokens = commandsOf({
  name: 'get token',
  input: fc.record({ by: tokenCallers, target: targets }),
  async run(model, server, { by, target }) {
    const key = keyOf(model, by)
    const id = targetOf(model, target)
    expectAnswer(model, await send(server, 'GET', pathOf(id), key), getToken(model, key, id))
  },
})

export const patchTokens = commandsOf({
  name: 'patch token',
  input: fc.record({ by: tokenCallers, target: targets, patch: tokenPatches }),
  async run(model, server, { by, target, patch }) {
    const key = keyOf(model, by)
    const id = targetOf(model, target)
    const body = bodyOf(model, patch)
    const answer = await send(server, 'PATCH', pathOf(id), key, body)
    expectAnswer(
      model,
      answer,
      patchToken(model, key, id, body, await chosenIn(server, model, answer)),
    )
  },
})

export const deleteTokens = commandsOf({
  name: 'delete token',
  input: fc.record({ by: tokenCallers, target: targets }),
  async run(model, server, { by, target }) {
    const key = keyOf(model, by)
    const id = targetOf(model, target)
    expectAnswer(model, await send(server, 'DELETE', pathOf(id), key), deleteToken(model, key, id))
  },
})

export const useTokens = commandsOf({
  name: 'use token',
  input: fc.record({ by: tokenCallers, target: targets }),
  async run(model, server, { by, target }) {
    const key = keyOf(model, by)
    const id = targetOf(model, target)
    const answer = await send(server, 'POST', '/detokenize', key, [`{{ ${id} }}`])
    expectAnswer(model, answer, useToken(model, key, id))
  },
})
