/**
 * A walk is charged for its guesses once: its cursors serve nobody else. Contract sections 4, 14.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { tokenPermissions } from '../support/sessions.ts'
import { openWorld, ruleOf, times } from '../support/guesses.ts'
import type { Answer } from '../support/vault.ts'

const hidden = '078-05-1120'
const nextOf = ({ body }: Answer) => String((body['pagination'] as { next?: string }).next)
const listed = ({ status, body }: Answer) => [status, (body['data'] as unknown[])?.length]

/** A token that the guesser sees masked, and two of a caller who sees all that it covers. */
async function openPair(seed: number) {
  const { vault, key: free } = await openWorld(seed, { rules: ruleOf('reveal', '/own/') })
  const create = (body: object, by: string) => vault.ask('POST', '/tokens', { key: by, body })
  const keeper = await vault.application({ type: 'private', rules: ruleOf('reveal') })
  const found = await create({ type: 'social_security_number', data: hidden }, keeper)
  expect(found.status).toBe(201)
  await times(2, () => create({ type: 'token', data: hidden, containers: ['/own/'] }, free))
  const permissions = tokenPermissions.filter(each => each !== 'token:create')
  const guesser = await vault.application({ type: 'private', permissions })
  return { vault, free, guesser, fingerprint: String(found.body['fingerprint']) }
}

describe('the cursor of a question about hidden values', () => {
  // proves C4.10, S67
  test('is refused to a credential that has not paid for it, by search', async () => {
    const { vault, free, guesser } = await openPair(590)
    const ask = (key: string, query: string, start: string) =>
      vault.ask('POST', '/tokens/search', { key, body: { query, start, size: 1 } })
    const guesses = Array.from({ length: 20 }, (_, at) => `data:${at}`).join(' OR ')
    const query = `container:/own/* OR ${guesses} OR data:${hidden}`
    const start = nextOf(await ask(free, query, ''))
    expect(listed(await ask(free, query, start))).toEqual([200, 1])
    const { status, body } = await ask(guesser, query, start)
    expect([status, Object.keys(body['errors'] ?? {})]).toEqual([400, ['start']])
    const open = nextOf(await ask(free, 'type:token', ''))
    expect(listed(await ask(guesser, 'type:token', open))).toEqual([200, 1])
  })

  // proves C4.10, S67
  test('is refused to it by the fingerprints of a list as well', async () => {
    const { vault, free, guesser, fingerprint } = await openPair(591)
    const ask = (key: string, own: string, start: string) =>
      vault.ask(
        'GET',
        `/tokens?fingerprint=${fingerprint}&fingerprint=${own}&start=${start}&size=1`,
        { key },
      )
    const [first] = (await vault.ask('GET', '/tokens', { key: free })).body['data'] as object[]
    const own = String((first as { fingerprint?: string }).fingerprint)
    const start = nextOf(await ask(free, own, ''))
    expect(listed(await ask(free, own, start))).toEqual([200, 1])
    const { status, body } = await ask(guesser, own, start)
    expect([status, Object.keys(body['errors'] ?? {})]).toEqual([400, ['query.start']])
  })
})
