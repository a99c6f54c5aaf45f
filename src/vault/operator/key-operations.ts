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

/** The file and not the key: texts cannot be wiped. */
const rekeyed = Type.Union([
  Type.Object(
    { file: Type.String(), forget_before: Type.Boolean() },
    { additionalProperties: false },
  ),
  Type.Object({ new_file: Type.String() }, { additionalProperties: false }),
])
const nothing = Type.Object({}, { additionalProperties: false })

async function statusOf({ ring, store }: Administered): Promise<Facts> {
  await ring.refresh()
  const counts = await countByKey(store)
  const { dataKeys, replaced } = ring.keyring()
  return {
    master_key: ring.masterNumber(),
    keys: dataKeys.map(({ number, state, madeMs }) => ({
      number,
      state,
      made_at: printInstantUtc(madeMs),
      rows: counts.get(number) ?? 0,
    })),
    // The last one holds no key that is gone.
    keyrings_to_scrub: Math.max(0, replaced.length - 1),
  }
}

/** Said in the receipt, since who reads it may rely on it. */
const notCovered =
  'Backups and copies from before hold these keys under the master key of their time: ' +
  'only their end, or the end of that master key, ends that. Processes that serve keep these ' +
  'keys in memory for a minute, and those that hear nothing of it, workers and other machines, ' +
  'until they end.'

async function retireOlder({ deps, ring, store }: Administered): Promise<Facts> {
  const { now, randomBytes } = deps
  const { retired, rows, isScrubbed } = await retire({ now, randomBytes, ring, store })
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
 * Seals anew what is under an older key; one at a time in a process, and a caller is answered by a
 * walk that began after the call: an earlier one may not know the newest key.
 */
export type Resealer = (tell?: Tell) => Promise<Resealed>

/** @param batchRows that are sealed anew in one commit */
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
  const { deps, ring, store, isShared, replaceMasterKey } = vault
  // The new key of one would take the place of the other's.
  const alone = exclusive(
    () => new ApiError('conflict', 'another keys rekey goes on: wait for its end'),
  )
  const rekeyInto = (asked: NewMasterKey): Promise<void> =>
    alone(async () => {
      // Where a commit failed, nobody knows which of two keys counts: none is written over then.
      await store.write([{ bumpGeneration: true }])
      await ring.refresh()
      await replaceMasterKey(asked, masterKey => rekey({ ...deps, ring, store }, masterKey))
    })
  return {
    'keys-status': operation('nothing', nothing, () => statusOf(vault)),
    // Nothing is to be done: the caller has the key.
    'keys-prove': operation('master-key', nothing, async () => ({ holds: true })),
    'keys-rotate': operation('master-key', nothing, async (_, tell) => {
      const number = await rotate({ ...deps, ring, store })
      const { rows, damaged } = await reseal(tell)
      return { key: number, rows_resealed: rows, rows_damaged: damaged }
    }),
    'keys-rekey': operation('master-key', rekeyed, async asked => {
      if (isShared)
        throw new ApiError('conflict', 'others that serve it cannot follow: stop all of them first')
      await rekeyInto(
        'new_file' in asked
          ? { newFile: asked.new_file }
          : { file: asked.file, isBeforeKept: !asked.forget_before },
      )
      const scrubbed = await scrubReplaced({ ...deps, ring, store })
      return { master_key: ring.masterNumber(), scrubbed: scrubbed ?? null }
    }),
    'keys-retire': operation('master-key', nothing, async (_, tell) => {
      // What a rotation has left that was cut off, or found the disk full: rotating once more would
      // need room for one more key.
      if (ring.keyring().dataKeys.length > 1) await reseal(tell)
      return retireOlder(vault)
    }),
  }
}
