import { describe, expect, test } from 'bun:test'
import { uuidOf } from '../../../../src/lib/bytes.ts'
import { tokenTypeOf } from '../../../../src/rules/token-types.ts'
import { aliasRedrawsMax } from '../../../../src/limits/limits.ts'
import { defaultSettings } from '../../../../src/settings/settings.ts'
import { idSourceOf } from '../../../../src/tokens/write/id-source.ts'
import { unsealToken } from '../../../../src/tokens/token-record.ts'
import { tokenUnique } from '../../../../src/tokens/token-id.ts'
import { seededBytes } from '../../../support/seeded.ts'
import { openTestVault } from '../../../support/vault.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const type = tokenTypeOf('token')
if (type === undefined) throw new Error('there is a type token')

const deps = { randomBytes: seededBytes(1), settings: defaultSettings }

const byDefault = () => ({ id: uuidOf(deps.randomBytes(16)), isDefault: true })

const sourceOf = (given: string) => idSourceOf(deps, byDefault, given, type, 'abcdef')

describe('ids of new tokens', () => {
  test.each(['chosen', '{{ data | upcase }}'])('offers %j once', given => {
    const source = sourceOf(given)
    expect(source(0)).toEqual({ id: given === 'chosen' ? given : 'ABCDEF', isDefault: false })
    expect(source(1)).toBeUndefined()
  })

  // proves C7.7
  test(`draws an alias and ${aliasRedrawsMax} more, and UUIDs from then on`, () => {
    const source = sourceOf('x-{{ data | alias_preserve_length }}')
    const drawn = Array.from({ length: aliasRedrawsMax + 3 }, (_, attempt) => source(attempt))
    expect(new Set(drawn.map(each => each?.id)).size).toBe(drawn.length)
    drawn.forEach((each, attempt) => {
      const isAlias = attempt <= aliasRedrawsMax
      const shape = isAlias ? /^x-[0-9A-Za-z]{6}$/ : uuid
      expect(each).toEqual({ id: expect.stringMatching(shape), isDefault: !isAlias })
    })
  })
})

test('a record says whether its id is a default one, also after an update', async () => {
  const vault = await openTestVault(112)
  const permissions = ['token:create', 'token:update']
  const key = await vault.application({ type: 'private', permissions })
  const flagOf = async (id: string) => {
    const row = await vault.deps.store.find(tokenUnique(vault.deps.keys, vault.tenantId, id))
    return row && unsealToken(vault.deps.keys, vault.tenantId, row).record.idIsRandom
  }
  const givens = [undefined, 'chosen id', 'x-{{ data | alias_preserve_length }}']
  for (const [index, id] of givens.entries()) {
    const body = { id, type: 'token', data: 'abcdef' }
    const made = await vault.ask('POST', '/tokens', { key, body })
    const madeId = String(made.body['id'])
    const expected = index === 0 ? true : undefined
    expect(await flagOf(madeId)).toBe(expected)
    const path = `/tokens/${encodeURIComponent(madeId)}`
    expect((await vault.ask('PATCH', path, { key, body: {} })).status).toBe(200)
    expect(await flagOf(madeId)).toBe(expected)
  }
})
