/**
 * The pseudocode of RFC 7386 section 2, over lists of members: an oracle, slow and plain.
 *
 * @module
 */
import { isJsonObject, type Json } from '../../src/lib/json/json.ts'

export const patchAsTheRfcSays = (target: Json | undefined, patch: Json): Json => {
  if (!isJsonObject(patch)) return patch
  let members = isJsonObject(target) ? [...target] : []
  for (const [name, value] of patch) {
    const standing = members.find(([other]) => other === name)?.[1]
    members = members.filter(([other]) => other !== name)
    if (value !== null) members.push([name, patchAsTheRfcSays(standing, value)])
  }
  return new Map(members)
}
