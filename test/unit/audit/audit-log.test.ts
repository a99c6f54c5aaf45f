/**
 * The queue of the audit log: when what waits is written, and what is left of it where nothing can
 * be written.
 * @module
 */
import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { setImmediate } from 'node:timers/promises'
import { makeAuditLog, type AuditLog } from '../../../src/audit/audit-log.ts'
import { readBundle } from '../../../src/audit/bundle.ts'
import type { AuditEntry } from '../../../src/audit/entry.ts'
import { createKeyring } from '../../../src/crypto/keyring-format.ts'
import { makeKeys } from '../../../src/crypto/keyring.ts'
import { ApiError } from '../../../src/lib/errors.ts'
import { statedReasonCharsMax } from '../../../src/limits/limits.ts'
import {
  auditDelayMs,
  auditWaitingBytesMax,
  bundleEntriesMax,
  bundleEntriesWanted,
  entityIdCharsMax,
} from '../../../src/limits/work-limits.ts'
import type { WriteOutcome } from '../../../src/store/contract.ts'
import { seededBytes } from '../../support/seeded.ts'

const random = seededBytes(40)
const keys = makeKeys(createKeyring(random, 1))

const entryOf = (atMs: number, entityIds: readonly string[] = []): AuditEntry => ({
  atMs,
  operation: 'getToken',
  entityIds,
  result: 200,
})

interface Written {
  readonly entries: readonly AuditEntry[]
  /** Entries of each bundle. */
  readonly sizes: readonly number[]
  readonly land: () => void
  readonly fail: () => void
}

/** A store that ends each write when the test says so. */
function makeStore() {
  const writes: Written[] = []
  const write: Parameters<typeof makeAuditLog>[0]['store']['write'] = changes => {
    const bundles = changes.flatMap(change => ('log' in change ? change.log : []))
    const entries = bundles.flatMap(bundle =>
      readBundle(keys, { first: 0, ...bundle }, () => true).map(({ entry }) => entry),
    )
    const { promise, resolve, reject } = Promise.withResolvers<WriteOutcome>()
    const fail = () => reject(new ApiError('storage_full', 'no room'))
    const sizes = bundles.map(({ leaves }) => leaves.length)
    writes.push({ entries, sizes, land: () => resolve({ ok: true, ordinals: [] }), fail })
    return promise
  }
  return { writes, write }
}

let audit: AuditLog
let writes: Written[]
let told: string[]

beforeEach(() => {
  jest.useFakeTimers()
  const store = makeStore()
  writes = store.writes
  told = []
  const log = (event: string): number => told.push(event)
  audit = makeAuditLog({ store, keys, randomBytes: random, now: () => 1, log })
})
afterEach(() => void jest.useRealTimers())

/** Resolves when so many writes have begun. */
async function written(count: number): Promise<void> {
  while (writes.length < count) await setImmediate()
}

const instants = (): number[][] => writes.map(({ entries }) => entries.map(({ atMs }) => atMs))

describe('an entry that no answer waits for', () => {
  test('is written after its delay, with what came meanwhile', async () => {
    audit.note(entryOf(1))
    jest.advanceTimersByTime(auditDelayMs - 1)
    audit.note(entryOf(2))
    await setImmediate()
    expect(instants()).toEqual([])
    jest.advanceTimersByTime(1)
    await setImmediate()
    expect(instants()).toEqual([[1, 2]])
  })

  test('that comes during a write waits for the end of its delay, not of that write', async () => {
    audit.note(entryOf(1))
    jest.advanceTimersByTime(auditDelayMs)
    await setImmediate()
    audit.note(entryOf(2))
    writes[0]?.land()
    await setImmediate()
    audit.note(entryOf(3))
    expect(instants()).toEqual([[1]])
    jest.advanceTimersByTime(auditDelayMs)
    await setImmediate()
    expect(instants()).toEqual([[1], [2, 3]])
  })

  test('goes with the next one that an answer waits for', async () => {
    for (const atMs of [1, 1, 1]) audit.note(entryOf(atMs))
    jest.advanceTimersByTime(auditDelayMs)
    await setImmediate()
    audit.note(entryOf(2))
    const recorded = audit.record(entryOf(3))
    writes[0]?.land()
    await setImmediate()
    expect(instants()).toEqual([
      [1, 1, 1],
      [2, 3],
    ])
    writes[1]?.land()
    await recorded
  })

  test('is written without delay once they are many, in bundles of some', async () => {
    for (let count = 0; count < bundleEntriesMax; count += 1) audit.note(entryOf(count))
    await written(1)
    const [first] = writes
    expect(first?.entries).toHaveLength(bundleEntriesMax - 1)
    expect(Math.max(...(first?.sizes ?? []))).toBe(bundleEntriesWanted)
    first?.land()
    await written(2)
    expect(writes[1]?.entries).toHaveLength(1)
  })

  test('is written before the log ends', async () => {
    audit.note(entryOf(1))
    const flushed = audit.flush()
    await setImmediate()
    audit.note(entryOf(2))
    const again = audit.flush()
    writes[0]?.land()
    await setImmediate()
    writes[1]?.land()
    await Promise.all([flushed, again])
    expect(instants()).toEqual([[1], [2]])
  })
})

describe('while nothing can be written', () => {
  test('many are tried again after the delay, and not with each that comes', async () => {
    for (let count = 0; count < bundleEntriesMax; count += 1) audit.note(entryOf(count))
    await written(1)
    writes[0]?.fail()
    for (let turn = 0; turn < 2 * (bundleEntriesMax / bundleEntriesWanted); turn += 1) {
      audit.note(entryOf(turn))
      await setImmediate()
    }
    expect(writes).toHaveLength(1)
    jest.advanceTimersByTime(auditDelayMs)
    await written(2)
    writes[1]?.land()
    await written(3)
    audit.note(entryOf(1))
  })

  /** Characters of ids of one entry. */
  const chars = 100 * entityIdCharsMax
  const longIds = Array.from({ length: 100 }, () => 'x'.repeat(entityIdCharsMax))
  /** More than fit, at a byte a character. */
  const many = Math.ceil((2 * auditWaitingBytesMax) / chars)

  test('entries wait within their bytes, and the newest are kept', async () => {
    for (let count = 1; count <= many; count += 1) audit.note(entryOf(count, longIds))
    jest.advanceTimersByTime(auditDelayMs)
    await setImmediate()
    writes[0]?.fail()
    await setImmediate()
    expect(told).toEqual(['audit_not_written'])
    jest.advanceTimersByTime(auditDelayMs)
    for (let at = 1; ; at += 1) {
      await setImmediate()
      if (writes[at] === undefined) break
      writes[at]?.land()
    }
    const [dropped, ...kept] = writes.slice(1).flatMap(({ entries }) => entries)
    expect(dropped).toMatchObject({ operation: 'auditEntriesDropped', count: many - kept.length })
    expect(kept.at(-1)?.atMs).toBe(many)
    expect(kept.map(({ atMs }) => atMs)).toEqual(kept.map((_, at) => many - kept.length + at + 1))
    expect(kept.length * chars).toBeLessThanOrEqual(auditWaitingBytesMax)
    expect(kept.length * chars).toBeGreaterThan(auditWaitingBytesMax / 4)
  })

  test('stated reasons count as ids do', async () => {
    // Each character counts twice in UTF-16.
    const statedReason = '\u{1F511}'.repeat(statedReasonCharsMax)
    const fitting = Math.floor(auditWaitingBytesMax / (2 * statedReason.length))
    for (let at = 1; at <= fitting + 1; at += 1) audit.note({ ...entryOf(at), statedReason })
    jest.advanceTimersByTime(auditDelayMs)
    await written(1)
    expect(writes[0]?.entries[0]).toMatchObject({ operation: 'auditEntriesDropped' })
  })

  test('answers that wait behind it are refused with it, and not after as long again', async () => {
    const first = audit.record(entryOf(1))
    await written(1)
    const behind = audit.record(entryOf(2))
    behind.catch(() => {})
    audit.note(entryOf(3))
    writes[0]?.fail()
    await expect(first).rejects.toThrow('no room')
    jest.advanceTimersByTime(auditDelayMs)
    await written(2)
    expect(instants()[1]).toEqual([3])
    await expect(behind).rejects.toThrow('no room')
    writes[1]?.land()
  })

  test('an answer that waits for its entry is refused, and never forgotten', async () => {
    const recorded = audit.record(entryOf(0, longIds)).catch((error: unknown) => error)
    for (let count = 1; count <= many; count += 1) audit.note(entryOf(count, longIds))
    await setImmediate()
    const late = audit.record(entryOf(0, longIds)).catch((error: unknown) => error)
    for (let count = 1; count <= many; count += 1) audit.note(entryOf(count, longIds))
    writes[0]?.fail()
    expect(await recorded).toBeInstanceOf(ApiError)
    for (let at = 1; at <= 2 * many; at += 1) {
      jest.advanceTimersByTime(auditDelayMs)
      await setImmediate()
      writes.at(-1)?.fail()
      await setImmediate()
      if ((await Promise.race([late, setImmediate('waits')])) !== 'waits') break
    }
    expect(await late).toBeInstanceOf(ApiError)
  })
})
