/**
 * The check of every record: each row must open as one kind of record, and be found by its digests.
 *
 * A row does not say what it is; its sealed parts open in one scope and one collection only, so
 * these are tried. Rows come oldest first: no row is older than its tenant, nor than the
 * application that made it.
 * @module
 */
import {
  applicationUnique,
  isFoundByKeys,
  unsealApplication,
  tenantTerm,
  typeTerm,
} from '../applications/application-record.ts'
import type { Keys } from '../crypto/keyring.ts'
import { isKeptEffect } from '../http/idempotency.ts'
import type { Collection } from '../records/seal-row.ts'
import {
  unsealSession,
  sessionTenantTerm,
  sessionUnique,
  type SessionRecord,
} from '../sessions/session-record.ts'
import { equalDigests } from '../store/core/queries.ts'
import type { Digest, Row } from '../store/contract.ts'
import { attempt } from '../lib/errors.ts'
import { unsealTenant, tenantUnique } from '../tenants/tenant-record.ts'
import { isCodeKey } from '../tokens/code-key.ts'
import { isFoundByItsRecord } from '../tokens/write/dedup.ts'
import { isFoundByItsWebhook } from '../webhooks/webhook-record.ts'
import { isKeyringRow } from './keyring/live-keyring.ts'

/** Plain data without any stored value. */
export interface RecordFinding {
  /** It opens as no known kind; or it opens, and is not found by what its record says. */
  readonly kind: 'value_damaged' | 'record_mismatched'
  readonly ordinal: number
}

/** Rows by kind; damaged ones are not counted. */
export type RowCounts = Record<Collection, number>

/** One way to read a row. */
interface Reading {
  readonly collection: Collection
  /** Number of parts that such a row has: its head and its values. */
  readonly parts: number
  /** True if uniques, terms and deadline follow from the record. Throws if it does not open. */
  readonly follows: (row: Row) => boolean
}

const equalAll = (a: readonly Digest[], b: readonly Digest[]): boolean =>
  a.length === b.length && a.every((digest, i) => equalDigests(digest, b[i] ?? new Uint8Array()))

function isFoundById(keys: Keys, row: Row, { id, tenantId }: SessionRecord): boolean {
  const [key, nonce, ...more] = row.uniques
  if (key === undefined || nonce === undefined) return false
  const named = equalAll(more, [sessionUnique(keys, tenantId, id)])
  return named && equalAll(row.terms, [sessionTenantTerm(keys, tenantId)])
}

/** @param addTenant called with each tenant that a record names, more than once */
const installationReadings = (keys: Keys, addTenant: (id: string) => void): Reading[] => [
  {
    collection: 'session',
    parts: 2,
    follows(row) {
      const { record } = unsealSession(keys, row)
      return isFoundById(keys, row, record) && row.deadlineMs === record.expiresAtMs
    },
  },
  {
    collection: 'application',
    parts: 2,
    follows(row) {
      const { record } = unsealApplication(keys, row)
      const { id, tenantId, type, expiresAt } = record
      addTenant(tenantId)
      const [unique] = row.uniques
      return (
        isFoundByKeys(row, record) &&
        unique !== undefined &&
        equalDigests(unique, applicationUnique(keys, tenantId, id)) &&
        equalAll(row.terms, [tenantTerm(keys, tenantId), typeTerm(keys, tenantId, type)]) &&
        row.deadlineMs === expiresAt?.epochMs
      )
    },
  },
  {
    collection: 'webhook',
    parts: 2,
    follows: row => isFoundByItsWebhook(keys, row),
  },
  {
    collection: 'tenant',
    parts: 2,
    follows(row) {
      const { id } = unsealTenant(keys, row)
      addTenant(id)
      return equalAll(row.uniques, [tenantUnique(keys, id)]) && row.deadlineMs === undefined
    },
  },
]

const tenantReadings = (keys: Keys, tenantId: string): Reading[] => [
  {
    collection: 'token',
    parts: 3,
    follows: row => isFoundByItsRecord(keys, tenantId, row),
  },
  { collection: 'code_key', parts: 2, follows: row => isCodeKey(keys, tenantId, row) },
  { collection: 'idempotency', parts: 2, follows: row => isKeptEffect(keys, tenantId, row) },
]

interface Read {
  readonly collection: Collection
  readonly follows: boolean
}

const keyringRead: Read = { collection: 'keyring', follows: true }

/** Finds the reading of a row; most rows are read like the one before. */
function makeReader(keys: Keys): (row: Row) => Read | undefined {
  const tenants = new Set<string>()
  let readings = installationReadings(keys, id => {
    if (tenants.has(id)) return
    tenants.add(id)
    readings = [...readings, ...tenantReadings(keys, id)]
  })
  let latest: Reading | undefined
  return row => {
    for (const reading of latest === undefined ? readings : [latest, ...readings]) {
      if (reading.parts !== row.parts.length) continue
      const follows = attempt(() => reading.follows(row))
      if (follows === undefined) continue
      latest = reading
      return { collection: reading.collection, follows }
    }
    return undefined
  }
}

/** Checks one row after the other. */
export interface RecordCheck {
  /** Counts of the rows that were looked at. */
  readonly counts: RowCounts
  readonly check: (row: Row) => void
}

/**
 * Opens every part of each row that it is given, oldest first, and keeps no record.
 * @param keys of a keyring that was opened from its row
 * @param report called for each row that is not as it was written
 */
export function makeRecordCheck(keys: Keys, report: (finding: RecordFinding) => void): RecordCheck {
  const counts: RowCounts = {
    keyring: 0,
    tenant: 0,
    application: 0,
    session: 0,
    webhook: 0,
    token: 0,
    code_key: 0,
    idempotency: 0,
  }
  const read = makeReader(keys)
  return {
    counts,
    check(row) {
      const { ordinal } = row
      const found: Read | undefined = isKeyringRow(row) ? keyringRead : read(row)
      if (found === undefined) report({ kind: 'value_damaged', ordinal })
      else {
        counts[found.collection] += 1
        if (!found.follows) report({ kind: 'record_mismatched', ordinal })
      }
    },
  }
}

/** Checks all rows in one go. */
export function checkRecords(
  keys: Keys,
  rows: Iterable<Row>,
  report: (finding: RecordFinding) => void,
): RowCounts {
  const { counts, check } = makeRecordCheck(keys, report)
  for (const row of rows) check(row)
  return counts
}
