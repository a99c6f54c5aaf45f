/**
 * Operations on the keys of a vault.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { ApiError } from '../../lib/errors.ts'
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

/** Seals anew what is under an older key; one at a time in a process. */
export type Resealer = (tell?: Tell) => Promise<Resealed>

/** @param batchRows that are sealed anew in one commit */
export function makeResealer({ deps, store }: Administered, batchRows = resealBatchRows): Resealer {
  let running: Promise<Resealed> | undefined
  /** Whether somebody has asked since the walk began, maybe for a key that is newer than it. */
  let isAskedAgain = false
  const listeners = new Set<Tell>()
  let seen = 0
  const resealOnce = async (): Promise<Resealed> => {
    seen = 0
    isAskedAgain = false
    const { nextOrdinal: total } = await store.figures()
    return resealAll({ ...deps, batchRows }, count => {
      seen += count
      for (const tell of listeners) tell({ rows: Math.min(seen, total), of: total })
    })
  }
  async function start(): Promise<Resealed> {
    try {
      let rows = 0
      for (;;) {
        const walk = await resealOnce()
        rows += walk.rows
        // A caller who asks after this begins anew.
        if (!isAskedAgain) return { ...walk, rows }
      }
    } finally {
      running = undefined
    }
  }
  return async tell => {
    isAskedAgain = true
    if (tell !== undefined) listeners.add(tell)
    try {
      return await (running ??= start())
    } finally {
      if (tell !== undefined) listeners.delete(tell)
    }
  }
}

export const keyOperations = (vault: Administered, reseal: Resealer): Operations => {
  const { deps, ring, store, isShared, replaceMasterKey } = vault
  let isRekeying = false
  const rekeyInto = async (asked: NewMasterKey): Promise<void> => {
    // The new key of one would take the place of the other's.
    if (isRekeying) throw new ApiError('conflict', 'another keys rekey goes on: wait for its end')
    isRekeying = true
    try {
      // Where a commit failed, nobody knows which of two keys counts: none is written over then.
      await store.write([{ bumpGeneration: true }])
      await ring.refresh()
      await replaceMasterKey(asked, masterKey => rekey({ ...deps, ring, store }, masterKey))
    } finally {
      isRekeying = false
    }
  }
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
