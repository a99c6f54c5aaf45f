/**
 * Filters of the audit log, and the values by which its entries are indexed.
 * @module
 */
import { writeAuditDigest, type Keys } from '../crypto/keyring.ts'
import type { AuditEntry } from './entry.ts'
import { digestAt, idKind, indexKey } from './index-format.ts'

/** Kinds of values that are indexed. Keys of the index hold their numbers, which never change. */
const kinds = {
  entityId: { number: idKind, valuesOf: ({ entityIds }: AuditEntry) => entityIds },
  keyId: { number: 2, valuesOf: ({ keyId }: AuditEntry) => given(keyId) },
  actorId: { number: 3, valuesOf: ({ actorId }: AuditEntry) => given(actorId) },
  operation: { number: 4, valuesOf: ({ operation }: AuditEntry) => [operation] },
  entityType: { number: 5, valuesOf: ({ entityType }: AuditEntry) => given(entityType) },
  transform: { number: 6, valuesOf: ({ transform }: AuditEntry) => given(transform) },
  result: { number: 7, valuesOf: ({ result }: AuditEntry) => [String(result)] },
  /** Any entry of the tenant. */
  tenant: { number: 8, valuesOf: () => [''] },
} as const

type Kind = keyof typeof kinds

const given = (value: string | undefined): readonly string[] => (value === undefined ? [] : [value])

/** In order: kinds that match few entries come first. */
const kindNames = Object.keys(kinds) as readonly Kind[]

type Asked = { readonly [K in Exclude<Kind, 'tenant'>]?: string | undefined }

/** All that is given must hold. */
export interface EntryFilter extends Asked {
  readonly tenantId: string
  readonly traceId?: string | undefined
  readonly from?: string | undefined
  /** The first instant, in Unix milliseconds. */
  readonly fromMs?: number | undefined
  /** The first instant that is too late. */
  readonly beforeMs?: number | undefined
}

/** A value by which entries are found. */
export interface FoundBy {
  readonly tenantId: string
  readonly kind: Kind
  readonly value: string
}

/** Returns the key of a value in the index, without chunk and slice. */
export function termOf(
  keys: Pick<Keys, 'auditIndexKey'>,
  { tenantId, kind, value }: FoundBy,
): Uint8Array {
  const key = indexKey(kinds[kind].number)
  writeAuditDigest(keys, key, digestAt, kind, tenantId, value)
  return key
}

/** Returns what an entry is found by, but for its ids; nothing for an entry of no tenant. */
export const foundBy = (entry: AuditEntry): readonly FoundBy[] => {
  const { tenantId } = entry
  if (tenantId === undefined) return []
  return kindNames.flatMap(kind =>
    kind === 'entityId'
      ? []
      : kinds[kind].valuesOf(entry).map(value => ({ tenantId, kind, value })),
  )
}

const askedKinds = (filter: EntryFilter): readonly Exclude<Kind, 'tenant'>[] =>
  kindNames.flatMap(kind => (kind !== 'tenant' && filter[kind] !== undefined ? [kind] : []))

/** Returns terms of all entries that match, and of none of another tenant; at least one. */
export function termsOfFilter(
  keys: Pick<Keys, 'auditIndexKey'>,
  filter: EntryFilter,
): readonly Uint8Array[] {
  const { tenantId } = filter
  const asked = askedKinds(filter).map(kind => ({ tenantId, kind, value: filter[kind] ?? '' }))
  const all: readonly FoundBy[] = [{ tenantId, kind: 'tenant', value: '' }]
  return (asked.length > 0 ? asked : all).map(found => termOf(keys, found))
}

/** True if the terms of a filter decide, but for its instants. */
export const isByTerms = ({ traceId, from }: EntryFilter): boolean =>
  traceId === undefined && from === undefined

export function matchesEntry(filter: EntryFilter, entry: AuditEntry): boolean {
  const { tenantId, traceId, from, fromMs = 0, beforeMs = Infinity } = filter
  if (entry.tenantId !== tenantId || entry.atMs < fromMs || entry.atMs >= beforeMs) return false
  if (traceId !== undefined && entry.traceId !== traceId) return false
  if (from !== undefined && entry.from !== from) return false
  return askedKinds(filter).every(kind => kinds[kind].valuesOf(entry).includes(filter[kind] ?? ''))
}
