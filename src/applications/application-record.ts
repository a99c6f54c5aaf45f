/**
 * The application record: how it is sealed, found and shown.
 *
 * Applications live in the installation's key scope: a key is looked up before its tenant is known.
 * @module
 */
import { termDigest, uniqueDigest, type Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import type { Grants } from '../rules/access.ts'
import type { ShownChange } from '../rules/access-changes.ts'
import { printInstantUtc } from '../rules/instants.ts'
import type { ApplicationType } from '../rules/permissions.ts'
import { isLiveKey, type HeldKey, type KeyRecord } from './api-keys.ts'
import { jsonRecord } from '../records/json-record.ts'
import type { NewRow, Row } from '../store/contract.ts'

export interface ApplicationRecord extends Grants {
  readonly id: string
  readonly tenantId: string
  readonly name: string
  readonly type: ApplicationType
  /** The greatest number of any of its keys so far; absent: 0. */
  readonly keyNumber?: number
  /** In the order of their digests. */
  readonly keys: readonly KeyRecord[]
  readonly createdBy?: string
  readonly createdAtMs: number
  readonly modifiedBy?: string
  readonly modifiedAtMs?: number
  readonly expiresAt?: { readonly text: string; readonly epochMs: number }
}

export interface StoredApplication {
  readonly row: Row
  readonly record: ApplicationRecord
}

const { seal, open } = jsonRecord<ApplicationRecord>('application')

/** Returns the digest under which an API key is found, 32 bytes. */
export const keyDigest = (keys: Keys, key: string): Uint8Array =>
  uniqueDigest(keys.installation, 'api-key', key)

export const applicationUnique = (keys: Keys, tenantId: string, id: string): Uint8Array =>
  uniqueDigest(keys.installation, 'application-id', tenantId, id.toLowerCase())

export const tenantTerm = (keys: Keys, tenantId: string): Uint8Array =>
  termDigest(keys.installation, 'application-tenant', tenantId)

export const typeTerm = (keys: Keys, tenantId: string, type: string): Uint8Array =>
  termDigest(keys.installation, 'application-type', tenantId, type)

/**
 * Seals the row of an application.
 * @param held its keys; expired ones are dropped
 */
export function sealApplication(
  deps: Pick<Deps, 'keys' | 'randomBytes' | 'now'>,
  application: ApplicationRecord,
  held: readonly HeldKey[],
  version: number,
): NewRow {
  const { keys } = deps
  const nowMs = deps.now()
  const live = held.filter(({ key }) => isLiveKey(key, nowMs))
  const record: ApplicationRecord = { ...application, keys: live.map(({ key }) => key) }
  const header = {
    uniques: [
      applicationUnique(keys, record.tenantId, record.id),
      ...live.map(each => each.digest),
    ],
    terms: [tenantTerm(keys, record.tenantId), typeTerm(keys, record.tenantId, record.type)],
    ...(record.expiresAt === undefined ? {} : { deadlineMs: record.expiresAt.epochMs }),
  }
  return seal(deps, record, header, version)
}

/** Returns true if the row has as many key digests as its record has keys. */
export const isFoundByKeys = ({ uniques }: Row, record: ApplicationRecord): boolean =>
  uniques.length === 1 + record.keys.length

/** @throws ApiError `storage_corrupt` when the row was changed */
export const unsealApplication = (keys: Keys, row: Row): StoredApplication => ({
  row,
  record: open(keys, row),
})

interface PrintedBeside {
  /** Only right after it was made (spec). */
  readonly key?: string
  /** Only in a dry run. */
  readonly changes?: readonly ShownChange[]
}

/** Returns the JSON text of an application. */
export const printApplication = (
  record: ApplicationRecord,
  { key, changes }: PrintedBeside = {},
): string =>
  JSON.stringify({
    id: record.id,
    tenant_id: record.tenantId,
    name: record.name,
    key,
    type: record.type,
    permissions: record.permissions,
    rules: record.rules,
    created_by: record.createdBy,
    created_at: printInstantUtc(record.createdAtMs),
    modified_by: record.modifiedBy,
    modified_at:
      record.modifiedAtMs === undefined ? undefined : printInstantUtc(record.modifiedAtMs),
    expires_at: record.expiresAt?.text,
    _extras: changes && { changes },
  })
