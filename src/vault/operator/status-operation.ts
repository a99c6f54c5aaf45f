/**
 * Status that a serving process reports of itself.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { build, version } from '../../lib/version.ts'
import type { StoreFigures } from '../../store/operated.ts'
import { operation, type Administered, type Facts, type Operations } from './operator-operation.ts'

/** A server reports its own state even while its database does not answer. */
async function figuresOf({ store }: Administered): Promise<StoreFigures | undefined> {
  try {
    return await store.figures()
  } catch {
    return undefined
  }
}

async function statusOf(vault: Administered): Promise<Facts> {
  const { deps, keyring, clockAheadMs, server } = vault
  const figures = await figuresOf(vault)
  return {
    version,
    build,
    ...server?.(),
    serving_seconds: Math.floor(deps.elapsedMs() / 1_000),
    rows_given: figures === undefined ? null : figures.nextOrdinal - 1,
    rows_not_folded: figures?.waiting ?? null,
    used_bytes: figures?.usedBytes ?? null,
    data_keys: keyring.current().dataKeys.length,
    clock_ahead_seconds: Math.floor(clockAheadMs() / 1_000),
  }
}

export const statusOperations = (vault: Administered): Operations => ({
  status: operation('nothing', Type.Object({}, { additionalProperties: false }), () =>
    statusOf(vault),
  ),
})
