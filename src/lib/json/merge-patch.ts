/**
 * JSON merge patch.
 *
 * Members keep the order of the target, new ones follow in the order of the patch. `__proto__` and
 * `constructor` are ordinary names, since no object is a plain one. Arguments are never changed.
 * Invariant: the result is no deeper than the deeper of the two, so values from `parseJson` stay
 * within `jsonDepthMax`, and so does the recursion. Source: RFC 7386 section 2; contract section 9.
 * @module
 */
import { invalid } from '../errors.ts'
import { hiddenMembersStep, jsonMembersMax } from '../../limits/limits.ts'
import { isJsonObject, withMember, type Json, type JsonObject, type MutableObject } from './json.ts'

const nothing: JsonObject = new Map()

/**
 * A merged object has the bound of a received one. decision: a hidden target counts in whole steps,
 * one at least, and every member of the patch counts: an exact bound would tell how many members it
 * has, and which members of the patch are among them.
 */
function assertFits(before: JsonObject, patch: JsonObject, result: JsonObject, isHidden: boolean) {
  const steps = Math.max(1, Math.ceil(before.size / hiddenMembersStep))
  const isWithin = isHidden
    ? steps * hiddenMembersStep + patch.size <= jsonMembersMax
    : result.size <= Math.max(jsonMembersMax, before.size)
  if (!isWithin) throw invalid('data', `expected objects of at most ${jsonMembersMax} members`)
}

/**
 * @param target   undefined if there is nothing yet
 * @param patch    null members remove; anything but an object replaces the target whole
 * @param isHidden true if refusals must not tell anything about the target
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
