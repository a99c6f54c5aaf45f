/**
 * Operations on the keys of an application: each reads, decides and writes once.
 *
 * decision: `key:read` reads keys, `key:rotate` makes and revokes them. Making one is as powerful
 * as making the application: it also needs `application:create` if the application may hold a token
 * permission, and every permission that a management application holds. Revoking needs no more, as
 * a leaked key must go: an application may end up without a key, but not the last manager.
 * Source: contract sections 11, 13 and 15.
 * @module
 */
import type { Deps } from '../deps.ts'
import type { Caller } from '../rules/caller.ts'
import { ApiError } from '../lib/errors.ts'
import { applicationKeysMax } from '../limits/limits.ts'
import type { WriteContext } from '../records/write-rows.ts'
import type { Secret } from '../lib/secret.ts'
import type { Change } from '../store/contract.ts'
import { heldKeys, isLiveKey, keyIdOf, newKey, type HeldKey, type KeyRecord } from './api-keys.ts'
import type { StoredApplication } from './application-record.ts'
import {
  anotherManagerStands,
  assertMayArm,
  assertMayGrant,
  canCreateApplications,
  changeApplication,
  endOfNewKey,
  findApplication,
  hasLastingKey,
  heldKey,
  modified,
  replacement,
} from './application-service.ts'

/** A key as it is shown. */
export interface ShownKey {
  readonly id: string
  readonly key: KeyRecord
}

/** A new key, whose plaintext exists only here. */
export interface NewKey extends ShownKey {
  readonly secret: Secret
}

const absent = () => new ApiError('not_found', 'There is no such key.')

const tooMany = () =>
  new ApiError('conflict', `This application has ${applicationKeysMax} keys: delete one first.`)

const liveKeys = (deps: Deps, { row, record }: StoredApplication): readonly HeldKey[] =>
  heldKeys(row, record).filter(({ key }) => isLiveKey(key, deps.now()))

/** Newest first. @throws ApiError `not_found` if there is no such application */
export async function listKeys(
  deps: Deps,
  { tenantId }: Caller,
  applicationId: string,
): Promise<readonly ShownKey[]> {
  const stored = await findApplication(deps, tenantId, applicationId)
  return liveKeys(deps, stored)
    .map(({ key }) => ({ id: keyIdOf(deps.keys, stored.record, key), key }))
    .toReversed()
}

/** @throws ApiError `not_found` if there is no such application, or it has no such key */
export async function getKey(
  deps: Deps,
  caller: Caller,
  applicationId: string,
  keyId: string,
): Promise<ShownKey> {
  const keys = await listKeys(deps, caller, applicationId)
  const found = keys.find(({ id }) => id === keyId.toLowerCase())
  if (found === undefined) throw absent()
  return found
}

/**
 * Adds a key; the others stay.
 * @param expiry as it was sent; absent: the key lasts as long as the application, or as long as the
 *   caller's key if that expires
 * @throws ApiError `invalid_request` for the expiry, `not_found`, `forbidden`; `conflict` if the
 *   application has the maximum number of keys
 */
export async function createKey(
  deps: Deps,
  caller: Caller & WriteContext,
  applicationId: string,
  expiry: string | undefined,
): Promise<NewKey> {
  const nowMs = deps.now()
  const end = endOfNewKey(caller, expiry, nowMs)
  return changeApplication(deps, caller, applicationId, async stored => {
    const { record } = stored
    assertMayGrant(caller, record.type, record.permissions)
    assertMayArm(caller, record.type)
    const live = liveKeys(deps, stored)
    if (live.length >= applicationKeysMax) throw tooMany()
    const secret = newKey(deps)
    const number = (record.keyNumber ?? 0) + 1
    const made = { number, createdBy: caller.applicationId, createdAtMs: nowMs, ...end }
    const held = heldKey(deps, secret, made)
    const next = { ...record, keyNumber: number, ...modified(deps, caller) }
    const change = replacement(deps, stored, next, [...live, held])
    const id = keyIdOf(deps.keys, record, held.key)
    return { changes: [change], result: { id, key: held.key, secret }, madeKeyId: id }
  })
}

/**
 * The key is refused from the moment this resolves, in every process, and its sessions end.
 * @throws ApiError `not_found`; `conflict` for the last key that never expires of the last manager
 *   that can create applications, also by that key itself
 */
export const deleteKey = (
  deps: Deps,
  caller: Caller & WriteContext,
  applicationId: string,
  keyId: string,
): Promise<void> =>
  changeApplication(deps, caller, applicationId, async stored => {
    const { record } = stored
    const isMeant = ({ key }: HeldKey) => keyIdOf(deps.keys, record, key) === keyId.toLowerCase()
    const live = liveKeys(deps, stored)
    const rest = live.filter(held => !isMeant(held))
    if (rest.length === live.length) throw absent()
    const locksOut = canCreateApplications(record) && !hasLastingKey(rest)
    const guard: readonly Change[] = locksOut
      ? await anotherManagerStands(deps, caller, stored)
      : []
    const change = replacement(deps, stored, { ...record, ...modified(deps, caller) }, rest)
    return { changes: [...guard, change], result: undefined }
  })
