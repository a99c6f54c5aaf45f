/**
 * Bundles of the audit log: what is sealed opens to the same entries and lines, and to no others.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { openBundle, sealBundle, unpackBundle } from '../../../src/audit/bundle.ts'
import { printEntry, type AuditEntry } from '../../../src/audit/entry.ts'
import { outlineEntry } from '../../../src/audit/entry-format.ts'
import { randomBytes } from '../../../src/server/process/system.ts'

const keys = { auditKey: new Uint8Array(32).fill(7) }

const plain: AuditEntry = { atMs: 1, operation: 'getToken', entityIds: [], result: 200 }

const full: AuditEntry = {
  atMs: Date.parse('2030-01-02T03:04:05.006Z'),
  tenantId: '4a0cf0f6-6c2c-4f9d-9b7e-1f2f2a0f5b3c',
  actorId: '0e3a9d3c-5d0f-4ac5-b4cb-3f0f2c7c5a44',
  actorType: 'session',
  keyId: '7c1f0c52-1f6e-4a53-9f0b-6a3b0a2f4d11',
  sessionId: '9d0a1c5e-3b77-4c2e-8f6a-5e1d7b9c0a22',
  operation: 'getToken',
  entityType: 'token',
  entityIds: ['card-1', 'C06D0789-0a38-40be-b7cc-c28a718f76f1'],
  transform: 'mask',
  rule: 'rule 12',
  result: 404,
  reason: 'not_found',
  statedReason: 'Fall 17: Rückfrage',
  searched: ['data', 'metadata'],
  traceId: 'trace-1',
  from: '2001:db8::1',
  count: 4_294_967_295,
}

const ids = [
  '',
  'a',
  'x'.repeat(252),
  'x'.repeat(253),
  'ü'.repeat(200),
  '\u2028"\\\u0000\n',
  '💳'.repeat(100),
  'c06d0789-0a38-40be-b7cc-c28a718f76f1',
  'c06d0789-0a38-40be-b7cc-c28a718f76fg',
  'c06d07890-a38-40be-b7cc-c28a718f76f1',
  '-'.repeat(36),
]

const entries: readonly AuditEntry[] = [
  plain,
  full,
  { ...full, count: 1 },
  { ...full, count: 2 },
  { ...plain, atMs: 0, result: 65_535 },
  { ...plain, atMs: 2 ** 48 - 1, from: '', traceId: '' },
  ...ids.map(id => ({ ...plain, entityIds: [id], traceId: id })),
  { ...plain, entityIds: ids },
  // Each shares all but one member with the one before it and the one behind.
  ...Object.keys(full).flatMap(name =>
    name in plain ? [] : [full, { ...full, [name]: undefined }, full],
  ),
  { ...full, operation: 'putToken' },
  full,
]

test('entries have one shape if only instant, ids, last texts, trace and address differ', () => {
  const alike: AuditEntry = {
    ...full,
    atMs: 1,
    entityIds: ids,
    traceId: 'ü',
    from: undefined,
    statedReason: undefined,
    searched: undefined,
  }
  const all = [full, alike, ...entries]
  const packed = unpackBundle(keys, { first: 0, ...sealBundle(keys, randomBytes, all) }, () => true)
  const outlines = packed.map(({ bytes }) => outlineEntry(bytes))
  const facts = outlines.map(({ atMs, entityIds }) => ({ atMs, entityIds }))
  expect(facts).toEqual(all.map(({ atMs, entityIds }) => ({ atMs, entityIds })))
  const names = Object.keys(full)
  const others = {
    atMs: 0,
    entityIds: [],
    traceId: undefined,
    from: undefined,
    statedReason: undefined,
    searched: undefined,
  }
  const shapeText = (entry: AuditEntry) => JSON.stringify({ count: 1, ...entry, ...others }, names)
  for (const [i, entry] of all.entries()) {
    const isOne = outlines[i]?.shape === outlines[0]?.shape
    expect(isOne).toBe(shapeText(entry) === shapeText(full))
  }
})

describe('a bundle', () => {
  test('opens to the lines that were hashed, one at a time and together', () => {
    for (const group of [...entries.map(entry => [entry]), entries]) {
      const bundle = { first: 9, ...sealBundle(keys, randomBytes, group) }
      const opened = openBundle(keys, bundle)
      expect(opened.map(({ line }) => line)).toEqual(group.map(printEntry))
      expect(opened.map(({ sequence }) => sequence)).toEqual(group.map((_, i) => 9 + i))
    }
  })

  test('opens under its key, with its hashes and unchanged alone', () => {
    const bundle = { first: 0, ...sealBundle(keys, randomBytes, [plain, full]) }
    const other = { first: 0, ...sealBundle(keys, randomBytes, [plain, full]) }
    const refused = { kind: 'storage_corrupt' }
    const changed = Uint8Array.from(bundle.sealed)
    changed[80] = (changed[80] ?? 0) ^ 1
    const wrong = [
      () => openBundle({ auditKey: new Uint8Array(32) }, bundle),
      () => openBundle(keys, { ...bundle, leaves: other.leaves }),
      () => openBundle(keys, { ...bundle, leaves: bundle.leaves.toReversed() }),
      () => openBundle(keys, { ...bundle, leaves: bundle.leaves.slice(1) }),
      () => openBundle(keys, { ...bundle, sealed: changed }),
    ]
    for (const open of wrong) expect(open).toThrow(expect.objectContaining(refused))
  })

  test('tells nothing of equal entries by equal bytes', () => {
    const one = sealBundle(keys, randomBytes, [full])
    const two = sealBundle(keys, randomBytes, [full])
    expect(one.leaves).not.toEqual(two.leaves)
    expect(one.sealed).not.toEqual(two.sealed)
  })
})
