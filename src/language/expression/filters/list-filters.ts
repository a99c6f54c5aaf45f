/**
 * Liquid's filters over lists: `join`, `first`, `last`, `reverse`, `size`, `slice`, `compact`,
 * `concat`, `map`, `where`, `uniq`, and `default`.
 *
 * A value other than a list counts as a list of one, null as an empty one. Items are never changed,
 * only picked. Property names pick own members; `a.b` is the member b of the member a.
 * @module
 */
import {
  isExactNumber,
  isJsonArray,
  type Json,
  canonicalNumberText,
} from '../../../lib/json/json.ts'
import { TextMap } from '../../../lib/maps.ts'
import { isSameNumber, type JsonNumber } from '../numbers.ts'
import {
  pickAll,
  resolve,
  spend,
  type Run,
  countCodePoints,
  indexAfter,
  indexBeforeLast,
  assertOutputFits,
  assertTextFits,
  integerOf,
  jsonOf,
  listOf,
  spendOnNumber,
  spendOnWalk,
  textOf,
} from '../run.ts'
import { anyValue, nameRule, sourceAt, textAt, type FilterDefinition } from './definition.ts'

/** Steps for each item that is read or moved. */
const stepsPerItem = 32

/** Returns a list, and pays for reading every item. */
const paidListOf = (value: Json | Uint8Array, run: Run): readonly Json[] => {
  const list = listOf(value, run)
  spend(run, list.length * stepsPerItem)
  return list
}

/** A filter over a list without arguments. */
const listFilter = (apply: (list: readonly Json[], run: Run) => Json): FilterDefinition => ({
  required: [],
  bind: () => (input, run) => apply(paidListOf(input, run), run),
})

export const reverse = listFilter(list => list.toReversed())

export const compact = listFilter(list => list.filter(item => item !== null))

const isNumber = (value: Json | undefined): value is JsonNumber =>
  typeof value === 'number' || isExactNumber(value)

/** Adds a text; returns true if it was missing. */
const isNewIn = (seen: TextMap<true>, text: string): boolean => {
  const before = seen.size
  return seen.set(text, true).size > before
}

/** Exact numbers of equal value are one item; each array or object is an item of its own. */
export const uniq = listFilter((list, run) => {
  // Each item is compared with some earlier ones.
  spend(run, Math.ceil(list.length * stepsPerItem * Math.log2(list.length + 1)))
  const seenTexts = new TextMap<true>()
  const seenNumbers = new TextMap<true>()
  const seenOthers = new Set<Json>()
  return list.filter(item => {
    if (typeof item === 'string') {
      spend(run, item.length)
      return isNewIn(seenTexts, item)
    }
    if (!isNumber(item)) {
      const before = seenOthers.size
      return seenOthers.add(item).size > before
    }
    spendOnNumber(run, item)
    // As text, because a caller can construct numbers that collide in the engine's hash table.
    const text = isExactNumber(item) ? canonicalNumberText(item.numberText) : String(item)
    return isNewIn(seenNumbers, text)
  })
})

export const join: FilterDefinition = {
  required: [],
  optional: [anyValue],
  bind: operands => {
    const [separator = () => ' '] = operands.map(resolve)
    return (input, run) => {
      const between = textOf(separator(run) ?? ' ', run)
      let length = 0
      const pieces = paidListOf(input, run).map(item => {
        const piece = textOf(item, run)
        length += piece.length + between.length
        assertTextFits(length - between.length, run)
        return piece
      })
      return pieces.join(between)
    }
  },
}

export const concat: FilterDefinition = {
  required: [anyValue],
  bind: operands => {
    const tail = sourceAt(operands, 0)
    return (input, run) => {
      const joined = [...paidListOf(input, run), ...paidListOf(tail(run), run)]
      assertOutputFits(joined, run)
      return joined
    }
  },
}

/** The first character of text; null if there is no first item. */
export const first: FilterDefinition = {
  required: [],
  bind: () => input => {
    const value = jsonOf(input)
    if (typeof value === 'string') return value.slice(0, indexAfter(value, 1))
    return isJsonArray(value) ? (value.at(0) ?? null) : null
  },
}

/** The last character of text; null if there is no last item. */
export const last: FilterDefinition = {
  required: [],
  bind: () => input => {
    const value = jsonOf(input)
    if (typeof value === 'string') return value.slice(indexBeforeLast(value, 1))
    return isJsonArray(value) ? (value.at(-1) ?? null) : null
  },
}

/** Code points of text, items of a list, 0 for anything else. */
export const size: FilterDefinition = {
  required: [],
  bind: () => (input, run) => {
    const value = jsonOf(input)
    if (typeof value === 'string') {
      spendOnWalk(run, value)
      return countCodePoints(value)
    }
    return isJsonArray(value) ? value.length : 0
  },
}

/** `length` code points of text, or items, from `begin` on; a negative one counts from the end. */
const cut = (value: string | readonly Json[], begin: number, length: number): Json => {
  const total = typeof value === 'string' ? countCodePoints(value) : value.length
  const start = begin < 0 ? total + begin : begin
  if (typeof value !== 'string') return value.slice(Math.max(0, start), endOf(start, length))
  const index = indexAfter(value, Math.max(0, start))
  const tail = value.slice(index)
  return tail.slice(0, indexAfter(tail, endOf(start, length) - Math.max(0, start)))
}

/** A start before the first item, or a negative length, leaves nothing, as in Liquid. */
const endOf = (start: number, length: number): number =>
  start < 0 ? 0 : start + Math.max(0, length)

export const slice: FilterDefinition = {
  required: [anyValue],
  optional: [anyValue],
  bind: operands => {
    const begin = sourceAt(operands, 0)
    const [, length = () => 1] = operands.map(resolve)
    return (input, run) => {
      const value = jsonOf(input)
      if (value === null) return null
      const cuttable = isJsonArray(value) ? paidListOf(value, run) : textOf(value, run)
      if (typeof cuttable === 'string') spendOnWalk(run, cuttable)
      return cut(cuttable, integerOf(begin(run), run), integerOf(length(run), run))
    }
  },
}

export const map: FilterDefinition = {
  required: [nameRule],
  bind: operands => {
    const steps = textAt(operands, 0, '').split('.')
    return (input, run) => {
      const list = paidListOf(input, run)
      spend(run, list.length * steps.length)
      return list.map(item => pickAll(item, steps, run))
    }
  },
}

/** Liquid's equality: by type and value, lists item by item, objects by identity. */
const isSame = (a: Json, b: Json | undefined, run: Run): boolean => {
  spend(run, stepsPerItem)
  if (isJsonArray(a) && isJsonArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item, b[index], run))
  }
  if (isNumber(a) && isNumber(b)) {
    spendOnNumber(run, a)
    spendOnNumber(run, b)
    return isSameNumber(a, b)
  }
  return a === b
}

/** Items whose member equals the second argument, or without one is neither false nor null. */
export const where: FilterDefinition = {
  required: [nameRule],
  optional: [anyValue],
  bind: operands => {
    const steps = textAt(operands, 0, '').split('.')
    const [, expected] = operands.map(resolve)
    return (input, run) => {
      const wanted = expected?.(run)
      const list = paidListOf(input, run)
      spend(run, list.length * steps.length)
      return list.filter(item => {
        const member = pickAll(item, steps, run)
        if (wanted === undefined) return member !== null && member !== false
        return isSame(member, wanted, run)
      })
    }
  },
}

/** Returns the argument if the input is null, false, empty text or an empty list. */
export const defaultTo: FilterDefinition = {
  required: [anyValue],
  flag: 'allow_false',
  bind: (operands, flags) => {
    const fallback = sourceAt(operands, 0)
    const allowsFalse = flags.some(flag => flag.value)
    return (input, run) => {
      const value = jsonOf(input)
      const isEmpty = (typeof value === 'string' || isJsonArray(value)) && value.length === 0
      const isMissing = value === null || (value === false && !allowsFalse)
      if (!isEmpty && !isMissing) return value
      run.isPathMissed = false
      return fallback(run)
    }
  },
}
