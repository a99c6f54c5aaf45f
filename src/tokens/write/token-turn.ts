/**
 * Changing one token in turn with others who write it.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Budgeted } from '../../records/budgeted.ts'
import { inRowTurn } from '../../records/row-turns.ts'
import { untilWritten } from '../../records/write-rows.ts'
import type { Caller } from '../../rules/caller.ts'
import type { TokenPermission } from '../../rules/permissions.ts'
import { loadToken, type LoadedToken } from '../read/load.ts'
import { tokenUnique } from '../token-id.ts'

/**
 * Attempts a change until it lands on what was read.
 *
 * The token is loaded before its turn as well: a caller who may not have it would learn from a wait
 * that it is there, and when others write it.
 * @param attempt returns `undefined` when the token was changed meanwhile
 * @throws ApiError as `loadToken`
 */
export async function inTokenTurn<T>(
  deps: Deps,
  caller: Caller & Budgeted,
  permission: TokenPermission,
  id: string,
  attempt: (token: LoadedToken) => Promise<{ readonly result: T } | undefined>,
): Promise<T> {
  const load = () => loadToken(deps, caller, permission, id)
  let loaded: LoadedToken | undefined = await load()
  const unique = tokenUnique(deps.keys, caller.tenantId, id)
  return inRowTurn(unique, caller, hasWaited => {
    if (hasWaited) loaded = undefined
    return untilWritten(async () => {
      const token = loaded ?? (await load())
      loaded = undefined
      return attempt(token)
    })
  })
}
