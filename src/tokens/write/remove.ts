/**
 * Deleting a token. Source: spec, "Delete token".
 *
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { inTurn, untilWritten, writeAs } from '../../records/rows.ts'
import { loadToken } from '../read/load.ts'
import { tokenUnique } from '../record.ts'

/** @throws ApiError `not_found`, also for the second of two racing deletes */
export const removeToken = (deps: Deps, caller: Caller, id: string): Promise<void> =>
  inTurn(tokenUnique(deps.keys, caller.tenantId, id), caller.credential.ordinal, () =>
    untilWritten(async () => {
      const { row } = await loadToken(deps, caller, 'token:delete', id)
      const change = { remove: row.ordinal, ifVersion: row.version }
      const landed = await writeAs(deps.store, caller, [change])
      return landed ? { result: undefined } : undefined
    }),
  )
