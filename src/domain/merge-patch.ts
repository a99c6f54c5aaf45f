/**
 * JSON merge patch.
 *
 * Members keep the order of the target, new ones follow in the order of the patch. `__proto__` and
 * `constructor` are ordinary names, since no object is a plain one. Nothing handed in is changed.
 * Invariant: the result is no deeper than the deeper of the two, so what `parseJson` took stays
 * within `jsonDepthMax`, the recursion too. Source: RFC 7386 section 2; contract section 9.
 * @module
 */
import { invalid } from '../errors.ts'
import { jsonMembersMax } from '../limits.ts'
import { isJsonObject, withMember, type Json, type JsonObject, type Members } from './json.ts'

const nothing: JsonObject = new Map()

/**
 * @param target  undefined where there is nothing yet
 * @param patch   null members remove; what is no object replaces the target whole
 * @throws ApiError `invalid_request` for an object that grows beyond `jsonMembersMax`
 */
export const mergePatch = (target: Json | undefined, patch: Json): Json => {
  if (!isJsonObject(patch)) return patch
  const before = isJsonObject(target) ? target : nothing
  let result: Members = new Map()
  for (const [name, member] of before) {
    const change = patch.get(name)
    if (change === null) continue
    result = withMember(result, name, change === undefined ? member : mergePatch(member, change))
  }
  for (const [name, member] of patch) {
    if (member === null || before.has(name)) continue
    result = withMember(result, name, mergePatch(undefined, member))
  }
  // What two objects have together is bounded as what comes in one.
  if (result.size > jsonMembersMax && result.size > before.size) {
    throw invalid('data', `expected objects of at most ${jsonMembersMax} members`)
  }
  return result
}
