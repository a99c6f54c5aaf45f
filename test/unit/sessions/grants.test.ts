import { describe, expect, test } from 'bun:test'
import type { Condition } from '../../../src/rules/access.ts'
import { permissions, tokenPermissions } from '../../../src/rules/permissions.ts'
import { checkSessionGrants } from '../../../src/sessions/session-grants.ts'
import type { SessionRuleBody } from '../../../src/sessions/schema.ts'
import { canary, expectRefusal } from '../../support/refusal.ts'

const ruleWith = (over: Partial<SessionRuleBody>): SessionRuleBody => ({
  priority: 1,
  transform: 'mask',
  permissions: ['token:read'],
  ...over,
})

const condition = (
  attribute: Condition['attribute'],
  operator: Condition['operator'],
  value: string,
): Condition => ({ attribute, operator, value })

const check = (...rules: readonly SessionRuleBody[]) => checkSessionGrants({ rules })

describe('the grants of a session', () => {
  test('hold every token permission once', () => {
    const given = [...tokenPermissions, ...tokenPermissions]
    expect(checkSessionGrants({ permissions: given })).toEqual({
      permissions: [...tokenPermissions],
      rules: [],
    })
  })

  test('hold no other permission, plainly or by a rule', () => {
    const others = permissions.filter(permission => !permission.startsWith('token:'))
    expect(others.length).toBeGreaterThan(0)
    for (const permission of others) {
      expectRefusal(() => checkSessionGrants({ permissions: [permission] }), ['permissions[0]'])
      const rule = ruleWith({ container: '/', permissions: ['token:read'] })
      const foreign = { ...rule, permissions: ['token:read', permission] } as SessionRuleBody
      expectRefusal(() => check(foreign), ['rules[0].permissions[1]'])
    }
  })

  test('are kept as checked: in ascending priority, without what is null', () => {
    const first = ruleWith({
      priority: 1,
      container: null,
      conditions: [condition('id', 'equals', 'A')],
    })
    const second = ruleWith({
      priority: 2,
      container: '/PCI/',
      conditions: null,
      description: null,
    })
    const described = ruleWith({ priority: 3, container: '/', description: 'all' })
    const kept: unknown = check(described, second, first).rules
    expect(kept).toEqual([
      ruleWith({ priority: 1, conditions: [condition('id', 'equals', 'A')] }),
      ruleWith({ priority: 2, container: '/pci/' }),
      ruleWith({ priority: 3, container: '/', description: 'all' }),
    ])
  })
})

describe('the value of a condition', () => {
  const valueOf = (given: Condition) =>
    check(ruleWith({ conditions: [given] })).rules[0]?.conditions?.[0]?.value

  test.each([
    ['id', 'equals', 'Order-17', 'Order-17'],
    ['id', 'starts_with', ' x', ' x'],
    ['id', 'starts_with', 'x'.repeat(400), 'x'.repeat(400)],
    ['container', 'equals', '/PCI/High/', '/pci/high/'],
    ['container', 'equals', '/', '/'],
    ['container', 'starts_with', '/', '/'],
    ['container', 'starts_with', '/PC', '/pc'],
    ['container', 'starts_with', '/pci/', '/pci/'],
    ['container', 'starts_with', '/pci/hi', '/pci/hi'],
  ] as const)('on %s %s: %p becomes %p', (attribute, operator, given, kept) => {
    expect(valueOf(condition(attribute, operator, given))).toBe(kept)
  })

  test.each([
    ['id', 'equals', canary.repeat(40)],
    ['id', 'starts_with', 'x'.repeat(401)],
    ['container', 'equals', `/${canary}`],
    ['container', 'equals', canary],
    ['container', 'starts_with', canary],
    ['container', 'starts_with', `/${canary}//`],
    ['container', 'starts_with', `/${canary}/..`],
    ['container', 'starts_with', `/${canary} `],
    ['container', 'starts_with', '/\u212a'],
    ['container', 'starts_with', `/${'a'.repeat(400)}`],
  ] as const)('on %s %s: %p is refused', (attribute, operator, given) => {
    expectRefusal(
      () => valueOf(condition(attribute, operator, given)),
      ['rules[0].conditions[0].value'],
      given.length > 3 ? [given] : [],
    )
  })

  test('is reported for each condition and each rule', () => {
    const bad = condition('container', 'equals', canary)
    const good = condition('id', 'equals', 'a')
    expectRefusal(
      () =>
        check(
          ruleWith({ conditions: [good, bad] }),
          ruleWith({ priority: 2, conditions: [bad, good, bad] }),
          ruleWith({ priority: 2, container: '/', conditions: [good] }),
        ),
      [
        'rules[0].conditions[1].value',
        'rules[1].conditions[0].value',
        'rules[1].conditions[2].value',
        'rules[2]',
        'rules[2].priority',
      ],
    )
  })
})
