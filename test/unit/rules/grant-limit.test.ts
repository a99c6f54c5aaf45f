import { describe, expect, test } from 'bun:test'
import type { Condition, Grants, Rule } from '../../../src/rules/access.ts'
import { isWithin, grantsWithin } from '../../../src/rules/grants.ts'
import type { Permission } from '../../../src/rules/permissions.ts'

const ruleWith = (over: Partial<Rule>): Rule => ({
  priority: 1,
  transform: 'mask',
  permissions: ['token:read'],
  ...over,
})

const plain = (...permissions: readonly Permission[]): Grants => ({ permissions, rules: [] })
const ruled = (...rules: readonly Rule[]): Grants => ({ permissions: [], rules })
const on = (container: string, over: Partial<Rule> = {}) => ruleWith({ container, ...over })
const when = (...conditions: readonly Condition[]) => ruleWith({ conditions })

const inContainer = (operator: Condition['operator'], value: string): Condition => ({
  attribute: 'container',
  operator,
  value,
})
const anId: Condition = { attribute: 'id', operator: 'equals', value: '/pci/' }

const reading = plain('token:read')
const onPci = ruled(on('/pci/'))
const allButBank = ruled(on('/bank/', { transform: 'redact' }), on('/', { priority: 2 }))

const cases: readonly (readonly [string, Grants, Grants, boolean])[] = [
  ['a plain permission within itself', reading, reading, true],
  ['a plain permission within nothing', reading, plain(), false],
  ['a plain permission within another', reading, plain('token:create'), false],
  ['a plain permission within a rule on all', reading, ruled(on('/')), true],
  ['a plain permission within a rule on a part', reading, onPci, false],
  [
    'a plain permission within a rule on all that shows less',
    reading,
    ruled(on('/', { transform: 'redact' })),
    false,
  ],
  ['a plain permission of which a rule takes a part', reading, allButBank, false],
  [
    'plain use, which reveals, within a rule that masks',
    plain('token:use'),
    ruled(on('/', { permissions: ['token:use'] })),
    false,
  ],
  ['a rule within the same rule', onPci, onPci, true],
  ['a rule below', ruled(on('/pci/high/')), onPci, true],
  ['a rule above', ruled(on('/')), onPci, false],
  ['a rule beside', ruled(on('/pci-dev/')), onPci, false],
  ['a rule that shows less', ruled(on('/pci/', { transform: 'redact' })), onPci, true],
  ['a rule that shows more', ruled(on('/pci/', { transform: 'reveal' })), onPci, false],
  [
    'a rule with one permission more',
    ruled(on('/pci/', { permissions: ['token:read', 'token:use'] })),
    onPci,
    false,
  ],
  ['a rule within a plain permission', onPci, reading, true],
  [
    'a revealing rule within a plain permission',
    ruled(on('/pci/', { transform: 'reveal' })),
    reading,
    false,
  ],
  ['a rule apart from the one that shows less', onPci, allButBank, true],
  ['a rule on what is shown less', ruled(on('/bank/high/')), allButBank, false],
  ['a rule above what is shown less', ruled(on('/')), allButBank, false],
  [
    'a rule that an earlier one covers with more',
    onPci,
    ruled(on('/pci/', { transform: 'reveal' }), on('/', { priority: 2, transform: 'redact' })),
    true,
  ],
  [
    'two rules of which one is wider',
    ruled(on('/pci/'), on('/bank/', { priority: 2 })),
    onPci,
    false,
  ],
  [
    'a container that equals one below',
    ruled(when(inContainer('equals', '/pci/high/'))),
    onPci,
    true,
  ],
  ['a container that equals one above', ruled(when(inContainer('equals', '/'))), onPci, false],
  [
    'a container that equals one around what is shown less',
    ruled(when(inContainer('equals', '/pci/'))),
    ruled(on('/pci/high/', { transform: 'redact' }), on('/', { priority: 2 })),
    true,
  ],
  [
    'a container that begins one that is shown less',
    ruled(when(inContainer('starts_with', '/pci/'))),
    ruled(on('/pci/high/', { transform: 'redact' }), on('/', { priority: 2 })),
    false,
  ],
  ['a rule without a scope, within a rule on all', ruled(ruleWith({})), ruled(on('/')), true],
  [
    'a rule without a scope, which covers nothing, within nothing',
    ruled(ruleWith({})),
    plain(),
    true,
  ],
  ['rules of which the first takes a part, within themselves', allButBank, allButBank, true],
  [
    'a rule behind one that takes what is shown less',
    ruled(on('/bank/', { transform: 'redact' }), on('/', { priority: 2 })),
    ruled(on('/bank/high/', { transform: 'redact' }), on('/', { priority: 2 })),
    true,
  ],
  [
    'a rule behind one that takes only some ids of what is shown less',
    ruled(
      { ...when(anId, inContainer('starts_with', '/bank/')), transform: 'redact' },
      on('/', { priority: 2 }),
    ),
    allButBank,
    false,
  ],
  [
    'conditions that no container meets, within nothing',
    ruled(when(inContainer('equals', '/a/'), inContainer('starts_with', '/b'))),
    plain(),
    true,
  ],
  ['a beginning below', ruled(when(inContainer('starts_with', '/pci/h'))), onPci, true],
  [
    'a beginning that goes on beside',
    ruled(when(inContainer('starts_with', '/pci'))),
    onPci,
    false,
  ],
  [
    'a beginning of all, within a rule on all',
    ruled(when(inContainer('starts_with', '/'))),
    ruled(on('/')),
    true,
  ],
  [
    'a beginning apart from what is shown less',
    ruled(when(inContainer('starts_with', '/pc'))),
    allButBank,
    true,
  ],
  [
    'a beginning that may reach what is shown less',
    ruled(when(inContainer('starts_with', '/ban'))),
    allButBank,
    false,
  ],
  ['an id, within a rule on a part', ruled(when(anId)), onPci, false],
  ['an id, within a plain permission', ruled(when(anId)), reading, true],
  ['an id, within a rule on all', ruled(when(anId)), ruled(on('/')), true],
  [
    'an id in a container below',
    ruled(when(anId, inContainer('starts_with', '/pci/'))),
    onPci,
    true,
  ],
  [
    'a container that equals one beside',
    ruled(when(inContainer('equals', '/bank/'))),
    onPci,
    false,
  ],
  [
    'a beginning and the container that equals it, around what is shown less',
    ruled(when(inContainer('starts_with', '/pci/'), inContainer('equals', '/pci/'))),
    ruled(on('/pci/high/', { transform: 'redact' }), on('/', { priority: 2 })),
    true,
  ],
  [
    'a container that equals one, and one that begins it, within nothing',
    ruled(when(inContainer('equals', '/pci/high/'), inContainer('starts_with', '/pci/'))),
    plain(),
    false,
  ],
  [
    'containers that cannot both be equal, within nothing',
    ruled(
      when(
        inContainer('equals', '/a/'),
        inContainer('equals', '/b/'),
        inContainer('starts_with', '/'),
      ),
    ),
    plain(),
    true,
  ],
  [
    'a rule behind conditions on containers that take what is shown less',
    ruled(
      { ...when(inContainer('starts_with', '/bank/')), transform: 'redact' },
      on('/', { priority: 2 }),
    ),
    allButBank,
    true,
  ],
  [
    'a permission behind a rule for another one',
    ruled(
      on('/', { transform: 'redact' }),
      on('/', { priority: 2, transform: 'reveal', permissions: ['token:use'] }),
    ),
    ruled(on('/', { permissions: ['token:read', 'token:use'] })),
    false,
  ],
  [
    'a plain permission behind a rule that takes what is shown less',
    { permissions: ['token:read'], rules: [on('/bank/', { transform: 'redact' })] },
    allButBank,
    true,
  ],
  ['nothing within nothing', plain(), plain(), true],
]

describe('grants are within others', () => {
  test.each(cases)('%s: %#', (_, grants, limit, expected) => {
    expect(isWithin(grants, limit)).toBe(expected)
  })

  test('a limit that goes by conditions gives nothing for sure, and may take', () => {
    const byId = { ...when(anId), transform: 'redact' as const }
    expect(isWithin(reading, ruled(when(anId)))).toBe(false)
    expect(isWithin(reading, { permissions: ['token:read'], rules: [byId] })).toBe(false)
    expect(isWithin(reading, { permissions: ['token:read'], rules: [when(anId)] })).toBe(true)
  })
})

describe('grants under a limit that has become narrower', () => {
  const revealing = { transform: 'reveal', priority: 2 } as const

  test('keep what is within it, by permission, and no empty rule', () => {
    const grants: Grants = {
      permissions: ['token:read', 'token:create'],
      rules: [
        on('/pci/', { permissions: ['token:read', 'token:use'] }),
        on('/bank/', { priority: 2, permissions: ['token:use'] }),
      ],
    }
    expect(grantsWithin(grants, plain('token:read'))).toEqual({
      permissions: ['token:read'],
      rules: [on('/pci/', { permissions: ['token:read'] })],
    })
    expect(grantsWithin(grants, plain())).toEqual(plain())
    expect(grantsWithin(grants, grants)).toEqual(grants)
  })

  test('lose what a rule that falls would uncover', () => {
    const hidden = on('/', { transform: 'redact' })
    const grants = ruled(hidden, on('/pci/', revealing))
    expect(isWithin(grants, ruled(on('/', revealing)))).toBe(true)
    expect(grantsWithin(grants, ruled(on('/pci/', revealing)))).toEqual(plain())
  })

  test('keep what a rule that falls did not hide', () => {
    const hidden = on('/bank/', { transform: 'redact' })
    const grants = ruled(hidden, on('/pci/', revealing))
    expect(grantsWithin(grants, ruled(on('/pci/', revealing)))).toEqual(
      ruled(on('/pci/', revealing)),
    )
  })
})
