/**
 * Creating a token. Source: spec, "Create token"; contract sections 5 to 8.
 *
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { invariant, type ApiError } from '../../errors.ts'
import type { Answer } from './batch.ts'
import { insertTokens } from './insert.ts'
import { andThen } from '../../maybe-later.ts'
import type { CreateTokenBody } from '../schema.ts'
import { planToken } from './plan.ts'
import { itemOf } from './replay.ts'
import { openWork } from '../read/work.ts'

const refuse = (_: number, error: ApiError): never => {
  throw error
}

/**
 * @throws ApiError `invalid_request`, `forbidden` for a container that no rule covers, `conflict`
 * for an id that is taken
 */
export async function createToken(
  deps: Deps,
  caller: Caller,
  body: CreateTokenBody,
): Promise<Answer> {
  const work = openWork(deps, caller)
  const planned = andThen(work.pause(), () => planToken(deps, caller.tenantId, body, work))
  const plan = planned instanceof Promise ? await planned : planned
  const turn = work.pause()
  if (turn !== undefined) await turn
  const [answer] = await insertTokens(deps, caller, [plan], refuse, answers => answers.map(itemOf))
  invariant(answer !== undefined, 'a plan is refused or answered')
  return answer
}
