/**
 * Entries of refusals without a live key: few, and none under the name of another.
 */
import { expect, test } from 'bun:test'
import type { AuditEntry } from '../../../src/audit/entry.ts'
import { makeLoginRefusals } from '../../../src/audit/login-refusals.ts'
import { loginAddressesMax } from '../../../src/limits/work-limits.ts'

const refusal = (from: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
  atMs: 0,
  operation: 'getToken',
  entityType: 'token',
  entityIds: ['t-1'],
  result: 401,
  reason: 'unauthenticated',
  from,
  ...more,
})

/** Returns operation, ids, status, address and count of what is entered. */
function entered(refusals: readonly AuditEntry[]): unknown[] {
  const entries: AuditEntry[] = []
  const logins = makeLoginRefusals(entry => entries.push(entry))
  for (const each of refusals) logins.note(each)
  logins.end()
  return entries.map(each => [
    each.operation,
    each.entityIds,
    each.result,
    each.from,
    each.count ?? 1,
  ])
}

const one = '192.0.2.1'

test('wrong keys are not counted as the unknown address that came before them', () => {
  const absent = refusal(one, { result: 404, reason: 'not_found' })
  expect(entered([absent, refusal(one), refusal(one), refusal(one)])).toEqual([
    ['getToken', ['t-1'], 404, one, 1],
    ['getToken', ['t-1'], 401, one, 1],
    ['getToken', ['t-1'], 401, one, 2],
  ])
})

test('several operations share an entry that names none of them', () => {
  const create = refusal(one, { operation: 'createToken', entityIds: [] })
  expect(entered([refusal(one), create, create])).toEqual([
    ['getToken', ['t-1'], 401, one, 1],
    ['several', [], 401, one, 2],
  ])
})

test('a network of IPv6 is one address', () => {
  const inside = Array.from({ length: 50 }, (_, i) => refusal(`2001:db8:1:1::${i + 1}`))
  expect(entered([...inside, refusal('2001:db8:1:2::1')])).toEqual([
    ['getToken', ['t-1'], 401, '2001:db8:1:1::1', 1],
    ['getToken', ['t-1'], 401, '2001:db8:1:2::1', 1],
    ['getToken', ['t-1'], 401, '2001:db8:1:1::1', 49],
  ])
})

test('addresses beyond the bound share an entry for each status', () => {
  const many = Array.from({ length: loginAddressesMax }, (_, i) =>
    refusal(`10.0.${i >> 8}.${i & 255}`),
  )
  const late = refusal('192.0.2.2')
  const absent = refusal('192.0.2.3', { result: 404, reason: 'not_found' })
  expect(entered([...many, absent, late, late]).slice(loginAddressesMax)).toEqual([
    ['getToken', ['t-1'], 404, undefined, 1],
    ['getToken', ['t-1'], 401, undefined, 2],
  ])
})
