/**
 * Fingerprints that can be compared with fingerprints of guesses: beyond the budget they are hidden
 * from a caller who does not see all data. Contract sections 8 and 14.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { guessWindowMs } from '../../src/limits/limits.ts'
import { openWorld, ruleOf, small, spentLines, statusesOf, times } from '../support/guesses.ts'
import type { Answer } from '../support/vault.ts'

describe('E6: a fingerprint that can be compared with those of guesses', () => {
  const card = (index: number) => ({ data: `guess ${index}` })
  const fingerprintOf = ({ body }: Answer) => body['fingerprint']
  const areShown = (answers: readonly Answer[]) =>
    answers.map(answer => fingerprintOf(answer) !== undefined)

  async function openMasked(seed: number, settings = small) {
    const world = await openWorld(seed, { rules: ruleOf('mask') }, settings)
    const owner = await world.vault.application({ type: 'private', rules: ruleOf('reveal') })
    const read = (id: unknown, key: string) =>
      world.vault.ask('GET', `/tokens/${String(id)}`, { key })
    const patch = (id: unknown, key: string, body: object) =>
      world.vault.ask('PATCH', `/tokens/${String(id)}`, { key, body })
    return { ...world, owner, read, patch }
  }

  // proves C8.16, E6.7
  test('is shown of so many tokens a minute; nothing is refused, one line is logged', async () => {
    const { vault, create } = await openMasked(540)
    const made = await times(9, index => create(card(index)))
    expect(statusesOf(made)).toEqual(Array(9).fill(201))
    expect(areShown(made)).toEqual([...Array(6).fill(true), ...Array(3).fill(false)])
    expect(spentLines(vault)).toHaveLength(1)
    expect(spentLines(vault).join()).toContain('fingerprint')
    vault.clock.advance(guessWindowMs)
    expect(areShown([await create(card(10))])).toEqual([true])
  })

  // proves E6.7, S67
  test('is hidden beyond that under a mask, until the budget has come to it', async () => {
    const { vault, key, owner, create, read, search } = await openMasked(541)
    const made = await times(7, index => create(card(index)))
    const { id } = made.at(-1)?.body ?? {}
    vault.clock.advance(guessWindowMs - 1)
    const shown = fingerprintOf(await read(id, owner))
    expect(shown).toBeString()
    const listed = (by: string) =>
      vault.ask('GET', `/tokens?fingerprint=${String(shown)}`, { key: by })
    const found = async (answer: Promise<Answer>) => (await answer).body['data']
    expect(areShown([await read(id, key)])).toEqual([false])
    expect((await read(id, key)).text).not.toContain(String(shown))
    expect(await found(search(`fingerprint:${String(shown)}`))).toEqual([])
    expect(await found(search(`fingerprint:${String(shown)}`, owner))).toMatchObject([{ id }])
    expect(await found(listed(key))).toEqual([])
    expect(await found(listed(owner))).toMatchObject([{ id }])
    expect((await search('type:token')).text).not.toContain(String(shown))
    vault.clock.advance(1)
    expect(fingerprintOf(await read(id, key))).toBe(shown)
    expect(await found(search(`fingerprint:${String(shown)}`))).toMatchObject([{ id }])
    expect(await found(listed(key))).toMatchObject([{ id }])
  })

  // proves E6.14
  test('waits a minute for each budget of those before it, and none waits for good', async () => {
    const { vault, key, create, read } = await openMasked(554)
    const made = await times(20, index => create(card(index)))
    const seen = async () =>
      areShown(await times(20, index => read(made[index]?.body['id'], key))).filter(Boolean).length
    expect(await seen()).toBe(6)
    for (const shown of [12, 18, 20]) {
      vault.clock.advance(guessWindowMs)
      expect(await seen()).toBe(shown)
    }
    vault.clock.advance(guessWindowMs)
    expect(areShown([await create(card(21))])).toEqual([true])
  })

  // proves E6.10
  test('is hidden beyond that, too, from a caller who sees those tokens, but not all', async () => {
    const { vault, owner, create, read } = await openMasked(547)
    const [first, ...rest] = ruleOf('reveal')
    const own = [
      { ...first, container: '/own/' },
      ...rest,
      { ...first, priority: 9, transform: 'mask' },
    ]
    const key = await vault.application({ type: 'private', rules: own })
    const made = await times(7, index => create({ ...card(index), containers: ['/own/'] }, key))
    const { id } = made.at(-1)?.body ?? {}
    const shown = String(fingerprintOf(await read(id, owner)))
    const answer = await read(id, key)
    expect(answer.body['data']).toBe('guess 6')
    expect(areShown([answer])).toEqual([false])
    for (const path of [`/tokens?fingerprint=${shown}`, '/tokens?container=/own/']) {
      expect((await vault.ask('GET', path, { key })).text).not.toContain(shown)
    }
    const query = `fingerprint:${shown} OR container:/own/*`
    const found = await vault.ask('POST', '/tokens/search', { key, body: { query } })
    expect(found.text).toContain('guess 6')
    expect(found.text).not.toContain(shown)
    const alone = { query: `fingerprint:${shown} AND container:/own/*` }
    const by = async (who: string) =>
      (await vault.ask('POST', '/tokens/search', { key: who, body: alone })).body['data']
    expect(await by(key)).toEqual([])
    expect(await by(owner)).toMatchObject([{ id }])
  })

  // proves C8.16
  test('is shown of all that a key that reveals made, and where the budget is off', async () => {
    const { owner, key, create, read } = await openMasked(542)
    const made = await times(8, index => create(card(index), owner))
    const seen = await times(8, index => read(made[index]?.body['id'], key))
    expect(areShown(seen)).toEqual(Array(8).fill(true))
    const loose = await openMasked(543, { createGuessesPerMinuteMax: 0 })
    expect(areShown(await times(8, index => loose.create(card(index))))).toEqual(
      Array(8).fill(true),
    )
  })

  // proves E6.7
  test('counts each item of a bulk operation, as far as there is budget', async () => {
    const { vault, key } = await openMasked(544)
    const body = Array.from({ length: 8 }, (_, index) => ({ type: 'token', ...card(index) }))
    const { text } = await vault.ask('POST', '/tokenize', { key, body })
    const shown = (JSON.parse(text) as object[]).map(token => 'fingerprint' in token)
    expect(shown).toEqual([...Array(6).fill(true), ...Array(2).fill(false)])
  })

  // proves E6.7
  test('counts each change of contents, until a caller who reveals changes them', async () => {
    const { owner, key, create, read, patch } = await openMasked(545)
    const { id } = (await create(card(0))).body
    const changed = await times(7, index => patch(id, key, { data: `guess ${index + 1}` }))
    expect(areShown(changed)).toEqual([...Array(5).fill(true), ...Array(2).fill(false)])
    expect(areShown([await patch(id, key, { metadata: { a: 'b' } })])).toEqual([false])
    expect(areShown([await patch(id, owner, { metadata: { a: 'c' } })])).toEqual([false])
    expect(areShown([await patch(id, owner, { data: 'another' })])).toEqual([true])
    expect(areShown([await read(id, key)])).toEqual([true])
  })

  test('is found by deduplication all the same, and not shown by it', async () => {
    const { vault, create } = await openMasked(546)
    const made = await times(7, index => create(card(index)))
    const again = await create({ ...card(6), deduplicate_token: true })
    expect(again.body).toMatchObject({ id: made[6]?.body['id'], _extras: { deduplicated: true } })
    expect(areShown([again])).toEqual([false])
    expect(spentLines(vault)).toHaveLength(1)
  })

  // proves E6.7, S67
  test.each(['mask', 'redact'])(
    'lets no change under %s compare a hidden token with all guesses at once',
    async transform => {
      const { vault, key, create } = await openWorld(transform === 'mask' ? 548 : 549, {
        rules: ruleOf(transform),
      })
      const owner = await vault.application({ type: 'private', rules: ruleOf('reveal') })
      await create({ id: 'victim', ...card(7) }, owner)
      const guesses = await times(8, index => create(card(index)))
      const { id } = guesses[7]?.body ?? {}
      const ask = async (by: string) => {
        const body = { deduplicate_token: true }
        return (await vault.ask('PATCH', '/tokens/victim', { key: by, body })).body['_extras']
      }
      expect([await ask(key), await ask(owner)]).toEqual([
        { deduplicated: false },
        { deduplicated: true },
      ])
      vault.clock.advance(guessWindowMs)
      expect(await ask(key)).toEqual({ deduplicated: true })
      expect((await vault.ask('DELETE', `/tokens/${String(id)}`, { key: owner })).status).toBe(204)
      expect(await ask(key)).toEqual({ deduplicated: false })
    },
  )
})
