/**
 * How large a value is as JSON, without printing it.
 * @module
 */
import { isExactNumber, isJsonArray, isJsonObject, type Json } from '../../json/json.ts'

const scalarSize = (value: Json): number => {
  if (typeof value === 'string') return value.length + 2
  return isExactNumber(value) ? value.numberText.length : String(value).length
}

/**
 * The characters of the value's JSON text, escapes not counted. Stops as soon as there are more
 * than `most`, so that a value which names one large part many times costs no more than that.
 * @returns at most the true size; more than `most` exactly when the true size is
 */
export const measureJson = (value: Json, most: number): number => {
  let size = 1
  if (isJsonArray(value)) {
    for (const item of value) {
      size += measureJson(item, most - size) + 1
      if (size > most) break
    }
    return value.length === 0 ? 2 : size
  }
  if (isJsonObject(value)) {
    for (const [name, member] of value) {
      size += name.length + 4
      size += measureJson(member, most - size)
      if (size > most) break
    }
    return value.size === 0 ? 2 : size
  }
  return scalarSize(value)
}
