/**
 * Comparisons of JSONPath filters. Source: RFC 9535 section 2.3.5.2.2.
 * @module
 */
import {
  isExactNumber,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../../json/json.ts'
import { isSameNumber, nearestDouble, type JsonNumber } from '../numbers.ts'
import { spend, type Run } from '../run.ts'
import { spendOnNumber } from '../values.ts'
import type { Operator } from './tree.ts'

const stepsPerValue = 32

const isNumber = (value: Json | undefined): value is JsonNumber =>
  typeof value === 'number' || isExactNumber(value)

/** Deep equality; undefined, which stands for Nothing, equals itself alone. */
const isEqual = (run: Run, a: Json | undefined, b: Json | undefined): boolean => {
  spend(run, stepsPerValue)
  if (typeof a === 'string' && typeof b === 'string') {
    spend(run, Math.min(a.length, b.length))
    return a === b
  }
  if (isNumber(a) && isNumber(b)) {
    spendOnNumber(run, a)
    spendOnNumber(run, b)
    return isSameNumber(a, b)
  }
  if (isJsonArray(a) && isJsonArray(b)) {
    return a.length === b.length && a.every((item, index) => isEqual(run, item, b[index]))
  }
  if (isJsonObject(a) && isJsonObject(b)) return isEqualObject(run, a, b)
  return a === b
}

const isEqualObject = (run: Run, a: JsonObject, b: JsonObject): boolean => {
  if (a.size !== b.size) return false
  for (const [name, member] of a) {
    if (!isEqual(run, member, b.get(name))) return false
  }
  return true
}

const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff

/** Order of Unicode code points, in which surrogate pairs come after U+FFFF. */
const isTextBefore = (run: Run, a: string, b: string): boolean => {
  const shorter = Math.min(a.length, b.length)
  spend(run, shorter)
  for (let index = 0; index < shorter; index += 1) {
    const codeA = a.charCodeAt(index)
    const codeB = b.charCodeAt(index)
    if (codeA === codeB) continue
    if (isSurrogate(codeA) !== isSurrogate(codeB)) return isSurrogate(codeB)
    return codeA < codeB
  }
  return a.length < b.length
}

/** decision: the order of numbers that no double holds is that of their nearest doubles. */
const isBefore = (run: Run, a: Json | undefined, b: Json | undefined): boolean => {
  if (isNumber(a) && isNumber(b)) return nearestDouble(a) < nearestDouble(b)
  return typeof a === 'string' && typeof b === 'string' && isTextBefore(run, a, b)
}

/** Values of different types are neither equal nor ordered. */
export const compareValues = (
  run: Run,
  a: Json | undefined,
  operator: Operator,
  b: Json | undefined,
): boolean => {
  switch (operator) {
    case '==':
      return isEqual(run, a, b)
    case '!=':
      return !isEqual(run, a, b)
    case '<':
      return isBefore(run, a, b)
    case '>':
      return isBefore(run, b, a)
    case '<=':
      return isBefore(run, a, b) || isEqual(run, a, b)
    case '>=':
      return isBefore(run, b, a) || isEqual(run, a, b)
  }
}
