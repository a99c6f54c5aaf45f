/**
 * What a serving process says of itself.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { version } from '../../package.json' with { type: 'json' }
import { operation, type Administered, type Operations } from './operation.ts'

export const statusOperations = ({
  deps,
  store,
  ring,
  clockAheadMs,
}: Administered): Operations => ({
  status: operation('nothing', Type.Object({}, { additionalProperties: false }), async () => {
    const { nextOrdinal, waiting, usedBytes } = await store.figures()
    return {
      version,
      serving_seconds: Math.floor(deps.elapsedMs() / 1_000),
      rows_given: nextOrdinal - 1,
      rows_not_folded: waiting,
      used_bytes: usedBytes,
      data_keys: ring.keyring().dataKeys.length,
      clock_ahead_seconds: Math.floor(clockAheadMs() / 1_000),
    }
  }),
})
