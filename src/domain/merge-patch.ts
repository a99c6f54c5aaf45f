/**
 * JSON merge patch.
 *
 * Members keep the order of the target, new ones follow in the order of the patch. `__proto__` and
 * `constructor` are ordinary names, since objects are Maps. Nothing handed in is changed.
 * Invariant: the result is no deeper than the deeper of the two, so what `parseJson` took stays
 * within `jsonDepthMax`, the recursion too. Source: RFC 7386 section 2; contract section 9.
 * @module
 */
import { isJsonObject, type Json } from './json.ts'

/**
 * @param target  undefined where there is nothing yet
 * @param patch   null members remove; what is no object replaces the target whole
 */
export const mergePatch = (target: Json | undefined, patch: Json): Json => {
  if (!isJsonObject(patch)) return patch
  const result = new Map(isJsonObject(target) ? target : [])
  for (const [name, member] of patch) {
    if (member === null) result.delete(name)
    else result.set(name, mergePatch(result.get(name), member))
  }
  return result
}
