import { describe, expect, test } from 'bun:test'
import { type Faults, invalid } from '../../../src/lib/errors.ts'
import {
  checkRuleContainer,
  collectFault,
  composeGrants,
  isLongToCompare,
  type GrantsDraft,
  type RuleDraft,
} from '../../../src/rules/grants.ts'
import { permissions, type CallerType } from '../../../src/rules/permissions.ts'
import { canary, expectRefusal } from '../../support/refusal.ts'

const ruleWith = (over: Partial<RuleDraft>): RuleDraft => ({
  priority: 1,
  container: '/',
  transform: 'mask',
  permissions: ['token:read'],
  ...over,
})

const compose = (type: CallerType, draft: GrantsDraft<RuleDraft>) =>
  composeGrants(type, draft, (faults, path, { container }) =>
    checkRuleContainer(faults, path, container ?? '/'),
  )

describe('composing grants', () => {
  test('takes permissions alone, and each of them once', () => {
    const draft = { permissions: ['token:read', 'token:read', 'token:use'] } as const
    const kept = { permissions: ['token:read', 'token:use'], rules: [] } as const
    expect(compose('private', draft)).toEqual(kept)
    expect(compose('private', { ...draft, rules: null })).toEqual(kept)
    expect(compose('private', { ...draft, rules: [] })).toEqual(kept)
  })

  test('takes rules alone, in ascending priority, with what was said and no more', () => {
    const rules = [
      ruleWith({ priority: 2, container: '/PCI/', description: null }),
      ruleWith({ priority: 1, description: 'all of them' }),
    ]
    const kept = { transform: 'mask', permissions: ['token:read'] } as const
    for (const draft of [{ rules }, { rules, permissions: null }, { rules, permissions: [] }]) {
      expect(compose('private', draft)).toEqual({
        permissions: [],
        rules: [
          { ...kept, priority: 1, container: '/', description: 'all of them' },
          { ...kept, priority: 2, container: '/pci/' },
        ],
      })
    }
    const [, second] = compose('private', { rules }).rules
    expect(Object.keys(second ?? {})).not.toContain('description')
  })

  test('refuses grants of nothing', () => {
    for (const draft of [{}, { permissions: null, rules: null }, { permissions: [], rules: [] }]) {
      expectRefusal(() => compose('private', draft), ['permissions'])
    }
  })

  test('refuses rules of a management application, and takes its permissions', () => {
    const own = ['application:read'] as const
    expect(compose('management', { permissions: own }).permissions).toEqual(own)
    const rules = [ruleWith({ permissions: [] })]
    expectRefusal(() => compose('management', { permissions: own, rules }), ['rules'])
    expect(compose('public', { permissions: ['token:create'] }).rules).toEqual([])
    expect(compose('private', { rules }).rules).toHaveLength(1)
  })

  test('refuses a priority that another rule has, at the later of the two', () => {
    const rules = [1, 2, 1, 2].map(priority => ruleWith({ priority }))
    expectRefusal(() => compose('private', { rules }), ['rules[2].priority', 'rules[3].priority'])
    expect(compose('private', { rules: rules.slice(0, 2) }).rules).toHaveLength(2)
  })

  test.each([
    ['session', 'a session'],
    ['private', 'a private application'],
    ['public', 'a public application'],
  ] as const)('says that %s may not hold a permission', (type, holder) => {
    const draft = {
      permissions: ['token:create', 'tenant:read'],
      rules: [ruleWith({ permissions: ['key:read', 'token:create'] })],
    } as const
    const refused = ['permissions[1]', 'rules[0].permissions[0]']
    const { message } = expectRefusal(() => compose(type, draft), refused)
    expect(message).toContain(`expected one of those that ${holder} may hold: `)
  })

  test('refuses every permission that no application of the type may hold', () => {
    for (const permission of permissions) {
      const draft = { permissions: [permission] }
      if (permission.startsWith('token:')) {
        expectRefusal(() => compose('management', draft), ['permissions[0]'])
      } else {
        expectRefusal(() => compose('private', draft), ['permissions[0]'])
      }
    }
  })

  test('reports every fault at once, and repeats no container', () => {
    const rules = [
      ruleWith({ container: canary }),
      ruleWith({ container: `/${canary}//` }),
      ruleWith({ priority: 3 }),
    ]
    expectRefusal(
      () => compose('private', { permissions: ['key:read'], rules }),
      ['permissions[0]', 'rules[0].container', 'rules[1].container', 'rules[1].priority'],
    )
  })
})

describe('the container of a rule', () => {
  test('is its scope, in normal form', () => {
    const faults: Faults = new Map()
    expect(checkRuleContainer(faults, 'rules[3]', '/PCI/')).toEqual({ container: '/pci/' })
    expect(faults.size).toBe(0)
  })

  test('is left out, with a fault at its path, where there is no such container', () => {
    const faults: Faults = new Map()
    expect(Object.keys(checkRuleContainer(faults, 'rules[3]', canary))).toEqual([])
    expect([...faults.keys()]).toEqual(['rules[3].container'])
  })
})

describe('a fault that a check throws', () => {
  test('is collected when it is a refusal, at the path of the rule', () => {
    const faults: Faults = new Map()
    const refuse = () => {
      throw invalid('elsewhere', 'expected better')
    }
    expect(collectFault(faults, 'rules[0]', refuse)).toBeUndefined()
    expect([...faults]).toEqual([['rules[0]', ['expected better']]])
    expect(collectFault(faults, 'rules[1]', () => 7)).toBe(7)
    expect(faults.size).toBe(1)
  })

  test('goes on when it is a fault of ours', () => {
    const faults: Faults = new Map()
    const fail = () => {
      throw new RangeError('ours')
    }
    expect(() => collectFault(faults, 'rules[0]', fail)).toThrow(RangeError)
    expect(faults.size).toBe(0)
  })
})

test('grants of many rules on both sides are long to compare', () => {
  const withRules = (count: number) => ({
    permissions: [],
    rules: Array.from({ length: count }, (_, priority) => ({
      priority,
      container: '/',
      transform: 'mask' as const,
      permissions: [],
    })),
  })
  const sides = [
    [25, 40],
    [26, 40],
    [1, 1_000],
    [1_001, 1],
    [0, 1_001],
  ] as const
  const areLong = sides.map(([own, limit]) => isLongToCompare(withRules(own), withRules(limit)))
  expect(areLong).toEqual([false, true, false, true, false])
})
