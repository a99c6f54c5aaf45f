/**
 * Operations on the keys of a vault.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { ApiError } from '../../lib/errors.ts'
import { exclusive, nextFlight } from '../../lib/serial.ts'
import { countByKey, resealAll, type Resealed } from '../keyring/reseal.ts'
import { resealBatchRows } from '../../limits/operation-limits.ts'
import { rekey, retire, rotate, scrubReplaced } from '../keyring/rotation.ts'
import { printInstantUtc } from '../../rules/instants.ts'
import {
  operation,
  type Administered,
  type Facts,
  type NewMasterKey,
  type Operations,
  type Tell,
} from './operator-operation.ts'

/** The file rather than the key: strings cannot be wiped. */
const rekeyed = Type.Union([
  Type.Object(
    { file: Type.String(), forget_before: Type.Boolean() },
    { additionalProperties: false },
  ),
  Type.Object({ new_file: Type.String() }, { additionalProperties: false }),
])
const nothing = Type.Object({}, { additionalProperties: false })

async function statusOf({ keyring, store }: Administered): Promise<Facts> {
  await keyring.refresh()
  const counts = await countByKey(store)
  const { dataKeys, replaced } = keyring.current()
  return {
    master_key: keyring.masterNumber(),
    keys: dataKeys.map(({ number, state, madeMs }) => ({
      number,
      state,
      made_at: printInstantUtc(madeMs),
      rows: counts.get(number) ?? 0,
    })),
    // The last one holds no retired key.
    keyrings_to_scrub: Math.max(0, replaced.length - 1),
  }
}

/** Part of the receipt, because its reader may rely on the receipt. */
const notCovered =
  'Older backups and copies still contain these keys, encrypted under the master key of that ' +
  'time. To make the keys unrecoverable, destroy those backups and copies, or that master key. ' +
  'Serving processes keep the keys in memory for a minute; workers and other machines that do ' +
  'not hear of the retirement keep them until they end.'

async function retireOlder({ deps, keyring, store }: Administered): Promise<Facts> {
  const { now, randomBytes } = deps
  const { retired, rows, isScrubbed } = await retire({ now, randomBytes, keyring, store })
  return {
    retired_at: printInstantUtc(now()),
    keys: retired.map(({ number, madeMs }) => ({ number, made_at: printInstantUtc(madeMs) })),
    rows_looked_at: rows,
    rows_left: 0,
    scrubbed: isScrubbed ?? null,
    not_covered: notCovered,
  }
}

/**
 * Reseals rows under older keys; one walk at a time in a process. A caller is answered by a walk
 * that began after the call: an earlier one may not know the newest key.
 */
export type Resealer = (tell?: Tell) => Promise<Resealed>

/** @param batchRows rows resealed in one commit */
export function makeResealer({ deps, store }: Administered, batchRows = resealBatchRows): Resealer {
  const listeners = new Set<Tell>()
  const reseal = nextFlight(async () => {
    let seen = 0
    const { nextOrdinal: total } = await store.figures()
    return resealAll({ ...deps, batchRows }, count => {
      seen += count
      for (const tell of listeners) tell({ rows: Math.min(seen, total), of: total })
    })
  })
  return async tell => {
    if (tell !== undefined) listeners.add(tell)
    try {
      return await reseal()
    } finally {
      if (tell !== undefined) listeners.delete(tell)
    }
  }
}

export const keyOperations = (vault: Administered, reseal: Resealer): Operations => {
  const { deps, keyring, store, isShared, replaceMasterKey } = vault
  // One at a time: the new key of one would replace the other's.
  const alone = exclusive(
    () => new ApiError('conflict', 'another keys rekey goes on: wait for its end'),
  )
  const rekeyInto = (asked: NewMasterKey): Promise<void> =>
    alone(async () => {
      // After a failed commit nobody knows which of two keys counts: neither is overwritten then.
      await store.write([{ bumpGeneration: true }])
      await keyring.refresh()
      await replaceMasterKey(asked, masterKey => rekey({ ...deps, keyring, store }, masterKey))
    })
  return {
    'keys-status': operation('nothing', nothing, () => statusOf(vault)),
    // Does nothing: the proof of the request has shown that the caller has the key.
    'keys-prove': operation('master-key', nothing, async () => ({ holds: true })),
    'keys-rotate': operation('master-key', nothing, async (_, tell) => {
      const number = await rotate({ ...deps, keyring, store })
      const { rows, damaged } = await reseal(tell)
      return { key: number, rows_resealed: rows, rows_damaged: damaged }
    }),
    'keys-rekey': operation('master-key', rekeyed, async asked => {
      if (isShared)
        throw new ApiError(
          'conflict',
          'workers, and others that serve it, cannot follow: stop all, run this again, start them',
        )
      await rekeyInto(
        'new_file' in asked
          ? { newFile: asked.new_file }
          : { file: asked.file, isBeforeKept: !asked.forget_before },
      )
      const scrubbed = await scrubReplaced({ ...deps, keyring, store })
      return { master_key: keyring.masterNumber(), scrubbed: scrubbed ?? null }
    }),
    'keys-retire': operation('master-key', nothing, async (_, tell) => {
      // Finishes a rotation that was cut off or found the disk full: another rotation would need
      // room for one more key.
      if (keyring.current().dataKeys.length > 1) await reseal(tell)
      return retireOlder(vault)
    }),
  }
}
