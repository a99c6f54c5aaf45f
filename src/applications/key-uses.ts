/**
 * Last-used days of keys: noted during requests, written a little later.
 *
 * A key whose record has today's day is not noted again, so each key costs one write a day. Notes
 * that are lost when the process ends are made again at the next use.
 * @module
 */
import type { Deps } from '../deps.ts'
import { keyUsesNotedMax, keyUsesPerWrite } from '../limits/work-limits.ts'
import { isExpired } from '../records/expiry.ts'
import type { Change } from '../store/contract.ts'
import { dayOf, heldKeys, type HeldKey, type KeyRecord } from './api-keys.ts'
import {
  applicationUnique,
  unsealApplication,
  sealApplication,
  type ApplicationRecord,
} from './application-record.ts'

type Writing = Pick<Deps, 'store' | 'keys' | 'now' | 'randomBytes'>

/** An application, and the day for each of its keys that was used, by number. */
interface Use {
  readonly tenantId: string
  readonly id: string
  readonly days: ReadonlyMap<number, string>
}

const isNews = ({ lastUsedOn = '' }: KeyRecord, day: string | undefined): boolean =>
  day !== undefined && day > lastUsedOn

const usedOn = ({ key, digest }: HeldKey, day: string | undefined): HeldKey =>
  day !== undefined && isNews(key, day)
    ? { key: { ...key, lastUsedOn: day }, digest }
    : { key, digest }

/** @returns no change if the application is gone or has the day already */
async function changesOf(deps: Writing, { tenantId, id, days }: Use): Promise<readonly Change[]> {
  const row = await deps.store.find(applicationUnique(deps.keys, tenantId, id))
  if (row === undefined || isExpired(row, deps.now())) return []
  const { record } = unsealApplication(deps.keys, row)
  const held = heldKeys(row, record)
  if (!held.some(({ key }) => isNews(key, days.get(key.number)))) return []
  const used = held.map(each => usedOn(each, days.get(each.key.number)))
  const replace = sealApplication(deps, record, used, row.version + 1)
  return [{ replace, ordinal: row.ordinal, ifVersion: row.version }]
}

/** Moves the store's generation, since it changes rows of applications (contract section 13). */
async function writeUses(deps: Writing, uses: readonly Use[]): Promise<boolean> {
  const changes = (await Promise.all(uses.map(use => changesOf(deps, use)))).flat()
  if (changes.length === 0) return true
  return (await deps.store.write([...changes, { bumpGeneration: true }])).ok
}

export interface KeyUses {
  readonly note: (record: ApplicationRecord, key: KeyRecord, nowMs: number) => void
  /**
   * Writes the noted days; a note that cannot be written stays.
   * @throws any error of the store
   */
  readonly write: () => Promise<void>
}

export function makeKeyUses(deps: Writing): KeyUses {
  const noted = new Map<string, Use>()
  return {
    note({ tenantId, id }, key, nowMs) {
      const day = dayOf(nowMs)
      if (!isNews(key, day) || (noted.size >= keyUsesNotedMax && !noted.has(id))) return
      const days = new Map(noted.get(id)?.days).set(key.number, day)
      noted.set(id, { tenantId, id, days })
    },
    async write() {
      const all = [...noted]
      for (let from = 0; from < all.length; from += keyUsesPerWrite) {
        const some = all.slice(from, from + keyUsesPerWrite)
        const landed = await writeUses(
          deps,
          some.map(([, use]) => use),
        )
        // Another key may have been noted meanwhile, which makes another `Use`.
        for (const [id, use] of some) if (landed && noted.get(id) === use) noted.delete(id)
      }
    },
  }
}
