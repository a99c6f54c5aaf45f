/**
 * Operations that help to find the lines of the log about a token.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { logDigest } from '../../crypto/keyring.ts'
import { ApiError } from '../../lib/errors.ts'
import { digestedIdsMax } from '../../limits/operation-limits.ts'
import { assertTokenId } from '../../rules/token-ids.ts'
import { operation, type Administered, type Operations } from './operator-operation.ts'

const asked = Type.Object(
  { ids: Type.Array(Type.String(), { minItems: 1, maxItems: digestedIdsMax }) },
  { additionalProperties: false },
)

/**
 * decision: takes a proof of the master key alone, because a caller who may get digests of any id
 * can try ids until one matches a line. A line of the log reveals a digest only for each id that
 * was looked up, and lookups are counted (`find/guesses.ts`).
 */
export const logOperations = ({ deps: { keys } }: Administered): Operations => ({
  'log-digest': operation('master-key', asked, async ({ ids }) => ({
    digests: ids.map((id, at) => {
      assertTokenId(id, `id ${at + 1}`)
      const digest = logDigest(keys, id)
      if (digest === undefined) throw new ApiError('unavailable', 'The vault is sealed.')
      return digest
    }),
  })),
})
