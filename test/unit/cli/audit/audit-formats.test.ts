/**
 * Entries of the audit log as events of OCSF: what the published schema of the class asks for.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { lineIn } from '../../../../src/cli/audit/audit-formats.ts'
import type { AuditEntry } from '../../../../src/audit/entry.ts'
import { faultsIn, published } from '../../../support/ocsf/validate.ts'

const bare: AuditEntry = { atMs: 1, operation: 'vaultStarted', entityIds: [], result: 200 }

const full: AuditEntry = {
  atMs: 1_795_000_000_000,
  tenantId: 'b5f5dd61-e030-463b-a8f2-170069c88b56',
  actorId: 'df6691bd-3336-486e-b3d8-7fdcff972072',
  actorType: 'private',
  keyId: '78bc0205-4bf4-4c64-942a-d3dd8130f191',
  sessionId: '8cbc0205-4bf4-4c64-942a-d3dd8130f191',
  operation: 'detokenize',
  entityType: 'token',
  entityIds: ['card-1', 'card-2'],
  transform: 'reveal',
  rule: 'rule 0',
  result: 200,
  reason: 'replay',
  statedReason: 'Case 17 = a|b',
  searched: ['data', 'type'],
  traceId: 'trace',
  from: '192.0.2.1',
  count: 3,
}

const eventOf = (entry: AuditEntry) =>
  JSON.parse(
    lineIn('ocsf', { entry, sequence: 7, salt: new Uint8Array(16), line: '' }),
  ) as Readonly<Record<string, unknown>>

test('a stated reason and searched fields are in every format, or absent', () => {
  const lineOf = (format: 'ocsf' | 'cef', entry: AuditEntry) =>
    lineIn(format, { entry, sequence: 7, salt: new Uint8Array(16), line: '' })
  expect(eventOf(full)['unmapped']).toEqual({
    stated_reason: 'Case 17 = a|b',
    searched: ['data', 'type'],
  })
  expect(lineOf('cef', full)).toContain(
    'flexString1Label=stated reason flexString1=Case 17 \\= a|b ' +
      'flexString2Label=searched flexString2=data,type',
  )
  for (const format of ['ocsf', 'cef'] as const)
    expect(lineOf(format, bare)).not.toMatch(/stated|searched/)
})

describe('an event of OCSF', () => {
  test.each<[string, AuditEntry]>([
    ['all that it can have', full],
    ['nothing that it need not have', bare],
    ['a session and no key', { ...full, keyId: undefined }],
    ['a key and no application', { ...bare, keyId: 'k' }],
    ['a refusal', { ...bare, result: 403, reason: 'forbidden' }],
    ['a removal', { ...full, operation: 'deleteToken' }],
    ['a change', { ...full, operation: 'updateApplication' }],
    ['an expiry', { ...full, operation: 'tokenExpired' }],
  ])('is what the published class asks for: of an entry with %s', (_, entry) => {
    expect(faultsIn(eventOf(entry))).toEqual([])
    expect(eventOf(entry)['metadata']).toMatchObject({ version: published.version })
  })

  test.each<[string, object, string]>([
    ['lacks an actor', { actor: undefined }, 'event.actor: is required'],
    ['has an actor of nothing', { actor: {} }, 'event.actor: has none of'],
    ['has an endpoint of nothing', { src_endpoint: {} }, 'event.src_endpoint: has none of'],
    ['has another class', { class_uid: 6_004 }, 'event.class_uid: no such value'],
    ['has a time of text', { time: 'now' }, 'event.time: is no long_t'],
    ['has one resource', { resources: {} }, 'event.resources: is no array'],
    ['has an attribute of its own', { tenant: 'x' }, 'event.tenant: is no attribute'],
  ])('is refused if it %s', (_, change, fault) => {
    const faults = faultsIn({ ...eventOf(full), ...change })
    expect(faults).toEqual([expect.stringContaining(fault)])
  })
})
