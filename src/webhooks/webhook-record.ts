/**
 * The webhook record: how it is sealed and found.
 *
 * Webhooks live in the installation's key scope, since one process delivers for all tenants. Each
 * takes one of the places of its tenant, a unique, so that no two creates pass the limit together.
 * @module
 */
import { termDigest, uniqueDigest, type Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import { jsonRecord } from '../records/json-record.ts'
import type { Digest, NewRow, Row } from '../store/contract.ts'
import { equalBytes } from '../lib/bytes.ts'
import type { VaultEventType } from './event-types.ts'

/** An order of a caller to the process that delivers. */
export type OrderAsked =
  | { readonly kind: 'replay'; readonly from: number }
  | { readonly kind: 'retry'; readonly sequence: number }
  | { readonly kind: 'resume' }

/** Numbered, so that it is done once. */
export type WebhookOrder = { readonly number: number } & OrderAsked

interface WebhookSecret {
  /** In base64. */
  readonly bytes: string
  /** Unix milliseconds until which it signs; absent for the newest. */
  readonly untilMs?: number
}

/** A reason for which the vault disables one: its receiver is gone (410), or failed for days. */
export type DisabledBy = 'gone' | 'failing'

export interface WebhookRecord {
  readonly id: string
  readonly tenantId: string
  /** From 0, among those of its tenant. */
  readonly place: number
  readonly name: string
  readonly url: string
  readonly status: 'enabled' | 'disabled'
  readonly disabledBy?: DisabledBy
  readonly notifyEmail?: string
  readonly events: readonly VaultEventType[]
  /** Newest first. */
  readonly secrets: readonly WebhookSecret[]
  /** Sequence of the first entry whose events it gets. */
  readonly from: number
  /** Newest last; those that are done leave with the next one. */
  readonly orders: readonly WebhookOrder[]
  readonly createdBy: string
  readonly createdAtMs: number
  readonly modifiedBy?: string
  readonly modifiedAtMs?: number
}

export interface StoredWebhook {
  readonly row: Row
  readonly record: WebhookRecord
}

const { seal, open } = jsonRecord<WebhookRecord>('webhook')

export const webhookUnique = (keys: Keys, tenantId: string, id: string): Digest =>
  uniqueDigest(keys.installation, 'webhook-id', tenantId, id.toLowerCase())

export const placeUnique = (keys: Keys, tenantId: string, place: number): Digest =>
  uniqueDigest(keys.installation, 'webhook-place', tenantId, String(place))

export const webhookTenantTerm = (keys: Keys, tenantId: string): Digest =>
  termDigest(keys.installation, 'webhook-tenant', tenantId)

/** The term that the rows of all webhooks share. */
export const anyWebhookTerm = (keys: Keys): Digest => termDigest(keys.installation, 'webhook')

const headerOf = (keys: Keys, { tenantId, id, place }: WebhookRecord) => ({
  uniques: [webhookUnique(keys, tenantId, id), placeUnique(keys, tenantId, place)],
  terms: [anyWebhookTerm(keys), webhookTenantTerm(keys, tenantId)],
})

/** Seals the row of a webhook. @param version 1 for a new one, one more with each change */
export const sealWebhook = (
  deps: Pick<Deps, 'keys' | 'randomBytes'>,
  record: WebhookRecord,
  version: number,
): NewRow => seal(deps, record, headerOf(deps.keys, record), version)

/** @throws ApiError `storage_corrupt` when the row was changed */
export const unsealWebhook = (keys: Keys, row: Row): StoredWebhook => ({
  row,
  record: open(keys, row),
})

const equalAll = (a: readonly Digest[], b: readonly Digest[]): boolean =>
  a.length === b.length && a.every((digest, i) => equalBytes(digest, b[i] ?? new Uint8Array()))

/** True if the row is found by what its record says. @throws ApiError `storage_corrupt` */
export function isFoundByItsWebhook(keys: Keys, row: Row): boolean {
  const { uniques, terms } = headerOf(keys, unsealWebhook(keys, row).record)
  const isFound = equalAll(row.uniques, uniques) && equalAll(row.terms, terms)
  return isFound && row.deadlineMs === undefined
}

/** Secrets that sign at an instant, newest first. */
export const liveSecrets = ({ secrets }: WebhookRecord, nowMs: number): Uint8Array[] =>
  secrets
    .filter(({ untilMs = Number.POSITIVE_INFINITY }) => untilMs > nowMs)
    .map(({ bytes }) => Uint8Array.fromBase64(bytes))
