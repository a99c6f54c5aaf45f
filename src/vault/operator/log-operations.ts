/**
 * Operations on the audit log, and those that help to find lines of the request log about a token.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { giveUpIndex } from '../../audit/search-index.ts'
import { logDigest } from '../../crypto/keyring.ts'
import { ApiError } from '../../lib/errors.ts'
import { digestedIdsMax } from '../../limits/operation-limits.ts'
import { assertTokenId } from '../../rules/token-ids.ts'
import { operation, type Administered, type Operations } from './operator-operation.ts'

const asked = Type.Object(
  { ids: Type.Array(Type.String(), { minItems: 1, maxItems: digestedIdsMax }) },
  { additionalProperties: false },
)

const nothing = Type.Object({}, { additionalProperties: false })

/**
 * decision: takes a proof of the master key alone, because a caller who may get digests of any id
 * can try ids until one matches a line. A line of the log reveals a digest only for each id that
 * was looked up, and lookups are counted (`find/guesses.ts`).
 */
export const logOperations = ({ deps: { keys, store } }: Administered): Operations => ({
  'log-digest': operation('master-key', asked, async ({ ids }) => ({
    digests: ids.map((id, at) => {
      assertTokenId(id, `id ${at + 1}`)
      const digest = logDigest(keys, id)
      if (digest === undefined) throw new ApiError('unavailable', 'The vault is sealed.')
      return digest
    }),
  })),
  'audit-reindex': operation('master-key', nothing, async (_, __, { audit }) => {
    await giveUpIndex(store, audit === undefined ? [] : [audit.changeOf([])])
    audit?.landed()
    return {}
  }),
})
