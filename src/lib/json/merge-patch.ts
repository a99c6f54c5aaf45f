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
import { hiddenMembersStep, jsonMembersMax } from '../../limits/limits.ts'
import { isJsonObject, withMember, type Json, type JsonObject, type MutableObject } from './json.ts'

const nothing: JsonObject = new Map()

/**
 * What two objects have together is bounded as what comes in one. decision: of what is hidden whole
 * steps count, one at least, and all members of the patch: what still fits would tell how many
 * members there are, and which of those of the patch are among them.
 */
function assertFits(before: JsonObject, patch: JsonObject, result: JsonObject, isHidden: boolean) {
  const steps = Math.max(1, Math.ceil(before.size / hiddenMembersStep))
  const isWithin = isHidden
    ? steps * hiddenMembersStep + patch.size <= jsonMembersMax
    : result.size <= Math.max(jsonMembersMax, before.size)
  if (!isWithin) throw invalid('data', `expected objects of at most ${jsonMembersMax} members`)
}

/**
 * @param target   undefined where there is nothing yet
 * @param patch    null members remove; what is no object replaces the target whole
 * @param isHidden whether refusals must not tell of the target
 * @throws ApiError `invalid_request` for an object that grows beyond `jsonMembersMax`
 */
export const mergePatch = (target: Json | undefined, patch: Json, isHidden = false): Json => {
  if (!isJsonObject(patch)) return patch
  const before = isJsonObject(target) ? target : nothing
  let result: MutableObject = new Map()
  for (const [name, member] of before) {
    const change = patch.get(name)
    if (change === null) continue
    result = withMember(
      result,
      name,
      change === undefined ? member : mergePatch(member, change, isHidden),
    )
  }
  for (const [name, member] of patch) {
    if (member === null || before.has(name)) continue
    result = withMember(result, name, mergePatch(undefined, member, isHidden))
  }
  assertFits(before, patch, result, isHidden)
  return result
}
