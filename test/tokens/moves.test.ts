/**
 * Moving tokens between containers: a move never shows its caller more. Source: contract section 9.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { addApplication, openSessionKit } from '../support/sessions.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const all = ['token:create', 'token:read', 'token:search', 'token:use', 'token:update']
const secret = '4242424242424242'

let vault: TestVault
/** Sees everything everywhere. */
let owner: string
let made = 0

beforeAll(async () => {
  vault = await openTestVault(271)
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions: all }]
  owner = await vault.application({ type: 'private', rules })
})

const create = async (container: string): Promise<string> => {
  made += 1
  const id = `moving-${made}`
  const body = { id, type: 'card_number', data: secret, containers: [container] }
  expect((await vault.ask('POST', '/tokens', { key: owner, body })).status).toBe(201)
  return id
}
const move = (key: string, id: string, to: string, more: object = {}) =>
  vault.ask('PATCH', `/tokens/${id}`, { key, body: { containers: [to], ...more } })
const read = (key: string, id: string) => vault.ask('GET', `/tokens/${id}`, { key })

const ruleOn = (priority: number, container: string, transform: string, permissions = all) => ({
  priority,
  container,
  transform,
  permissions,
})

/** A key whose rules show less in `/less/` than in `/more/`. */
const keyOf = (less: string, more: string, permissions = all) => {
  const own = [ruleOn(1, '/less/', less, permissions), ruleOn(2, '/more/', more, permissions)]
  const rules = [...own, ruleOn(3, '/', 'mask')]
  return vault.application({ type: 'private', rules })
}

const steps = [
  ['redact', 'mask'],
  ['redact', 'reveal'],
  ['mask', 'reveal'],
] as const
const seeing = ['token:read', 'token:search', 'token:use', 'token:update']

describe('a move', () => {
  // proves C9.9, E2.1, S59
  test.each(seeing.flatMap(held => steps.map(([less, more]) => [held, less, more] as const)))(
    'to where %s shows more is refused: %s to %s, and back it is not',
    async (held, less, more) => {
      const key = await keyOf(less, more, [held])
      const id = await create('/less/')
      const before = (await read(owner, id)).text
      expectProblem(await move(key, id, '/more/'), 403, [], [secret])
      expect((await read(owner, id)).text).toBe(before)
      const back = await create('/more/')
      const answer = await move(key, back, '/less/')
      expect(answer.status).toBe(200)
      expect(answer.text).not.toContain(secret)
      expectProblem(await move(key, back, '/more/'), 403)
    },
  )

  // proves E2.2
  test('to where a token may be read, from where it may not, is refused', async () => {
    const rules = [ruleOn(1, '/more/', 'redact'), ruleOn(2, '/', 'mask', ['token:update'])]
    const key = await vault.application({ type: 'private', rules })
    const id = await create('/less/')
    expectProblem(await move(key, id, '/more/'), 403)
    expectProblem(await read(key, id), 404)
  })

  // proves E2.2
  test('changes nothing else where it is refused, and is refused by one text', async () => {
    const key = await keyOf('redact', 'reveal')
    const id = await create('/less/')
    const before = (await read(owner, id)).text
    const more = { metadata: { a: '1' }, data: '5555555555554444', expires_at: null }
    const refused = await move(key, id, '/more/', more)
    expectProblem(refused, 403, [], [secret])
    expect((await read(owner, id)).text).toBe(before)
    const narrow = [ruleOn(1, '/less/', 'redact', ['token:update'])]
    const other = await vault.application({ type: 'public', rules: narrow })
    const uncovered = await move(other, id, '/nowhere/')
    expect(uncovered.body['detail']).toBe(refused.body['detail'])
    expectProblem(await move(key, id, '/more'), 400, ['containers[0]'])
  })

  // proves E2.1
  test('in steps reveals no more than at once', async () => {
    const rules = [
      ruleOn(1, '/less/', 'redact'),
      ruleOn(2, '/between/', 'mask'),
      ruleOn(3, '/more/', 'reveal'),
    ]
    const key = await vault.application({ type: 'private', rules })
    const id = await create('/less/')
    for (const to of ['/between/', '/more/', '/less/below/', '/more/']) {
      await move(key, id, to)
      expect((await read(key, id)).body).not.toHaveProperty('data')
    }
  })

  // proves C9.10
  test('is answered under the transform of the place that is entered', async () => {
    const key = await keyOf('redact', 'reveal')
    const masked = await move(key, await create('/more/'), '/more/below/')
    expect(masked.body['data']).toBe('XXXXXXXXXXXX4242')
    const redacted = await move(key, await create('/more/'), '/less/')
    expect(redacted.status).toBe(200)
    expect(redacted.body).not.toHaveProperty('data')
  })

  // proves C9.9, E2.3, S59
  test.each(['mask', 'redact'])(
    'by a session shows no more to the caller who authorized it: %s',
    async less => {
      const kit = await openSessionKit(vault)
      const own = [ruleOn(1, '/more/', 'reveal'), ruleOn(2, '/', less)]
      const wide = await addApplication(vault, { type: 'private', rules: own })
      const update = ['token:update']
      const grants = { rules: [ruleOn(1, '/', 'redact', update)] }
      const { key, nonce } = await kit.create()
      expect((await kit.authorize(nonce, grants, wide.key)).status).toBe(200)
      const id = await create('/less/')
      expectProblem(await move(key, id, '/more/'), 403, [], [secret])
      expect((await read(wide.key, id)).text).not.toContain(secret)
      expect((await move(key, id, '/less/below/')).status).toBe(200)
      expect((await move(key, await create('/more/'), '/less/')).status).toBe(200)
    },
  )

  // proves E2.3
  test('by a session shows no more to the caller who created it', async () => {
    const rules = [
      ruleOn(1, '/more/', 'mask', ['token:update']),
      ruleOn(2, '/less/', 'redact', ['token:update']),
    ]
    const shop = await vault.application({ type: 'public', rules })
    const wide = await vault.application({ type: 'private', rules: [ruleOn(1, '/', 'reveal')] })
    const made = (await vault.ask('POST', '/sessions', { key: shop })).body
    const body = { nonce: made['nonce'], rules: [ruleOn(1, '/', 'redact', ['token:update'])] }
    expect((await vault.ask('POST', '/sessions/authorize', { key: wide, body })).status).toBe(200)
    const key = String(made['session_key'])
    expectProblem(await move(key, await create('/less/'), '/more/'), 403, [], [secret])
    expect((await move(key, await create('/more/'), '/less/')).status).toBe(200)
  })

  // proves E2.2
  test('of a session goes by its own grants, whatever its conditions are on', async () => {
    const kit = await openSessionKit(vault)
    const wide = await addApplication(vault, {
      type: 'private',
      rules: [ruleOn(1, '/', 'reveal')],
    })
    const { key, nonce } = await kit.create()
    const conditions = [{ attribute: 'container', operator: 'starts_with', value: '/mo' }]
    const open = { priority: 1, conditions, transform: 'reveal', permissions: all }
    const grants = { rules: [open, ruleOn(2, '/', 'redact')] }
    expect((await kit.authorize(nonce, grants, wide.key)).status).toBe(200)
    const id = await create('/less/')
    expectProblem(await move(key, id, '/more/'), 403)
    expect((await read(key, id)).body).not.toHaveProperty('data')
    expect((await move(key, await create('/more/'), '/less/')).status).toBe(200)
  })

  test('within rules that show as much is free, and so is one by a rule on ids', async () => {
    const conditions = [{ attribute: 'id', operator: 'starts_with', value: 'moving-' }]
    const kit = await openSessionKit(vault)
    const wide = await addApplication(vault, {
      type: 'private',
      rules: [ruleOn(1, '/', 'reveal')],
    })
    const { key, nonce } = await kit.create()
    const rules = [{ priority: 1, conditions, transform: 'reveal', permissions: all }]
    expect((await kit.authorize(nonce, { rules }, wide.key)).status).toBe(200)
    expect((await move(key, await create('/less/'), '/more/')).status).toBe(200)
    const plain = await vault.application({ type: 'private', permissions: all })
    expect((await move(plain, await create('/less/'), '/more/')).status).toBe(200)
  })
})
