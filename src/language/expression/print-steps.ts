/**
 * Steps of printing a value, as an evaluation counts them.
 * @module
 */
import { isJsonArray, isJsonObject, type Json } from '../../lib/json/json.ts'

/** Names are sorted, and each part is printed by a call of its own. */
const stepsPerArray = 150
const stepsPerItem = 32
const stepsPerObject = 250
const stepsPerMember = 350

/** Returns the steps of printing a value whose text is not kept, beside those for characters. */
export const stepsToPrint = (value: Json): number => {
  if (isJsonArray(value)) {
    let steps = stepsPerArray + value.length * stepsPerItem
    for (const item of value) steps += stepsToPrint(item)
    return steps
  }
  if (!isJsonObject(value)) return 0
  let steps = stepsPerObject + value.size * stepsPerMember
  for (const member of value.values()) steps += stepsToPrint(member)
  return steps
}
