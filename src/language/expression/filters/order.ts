/**
 * Liquid's filters that order a list: `sort` and `sort_natural`, both stable, null last.
 *
 * decision: a list of mixed types is ordered booleans, numbers, text, then the rest as it came,
 * where Liquid has no order at all. Source: contract section 6.
 * @module
 */
import { isExactNumber, type Json } from '../../../lib/json/json.ts'
import { nearestDouble } from '../numbers.ts'
import { pickAll, spend, spendOnNumber, type Run, listOf, textOf } from '../run.ts'
import { nameRule, textAt, type FilterDefinition } from './definition.ts'
import { changeCase } from './text-filters.ts'

/** The sort key of an item: first its rank, then its value, which is a number or text. */
interface Key {
  readonly item: Json
  readonly rank: number
  readonly value: number | string
}

type KeyMaker = (item: Json, member: Json, run: Run) => Key

const plainKey: KeyMaker = (item, member, run) => {
  if (typeof member === 'boolean') return { item, rank: 0, value: Number(member) }
  if (typeof member === 'number' || isExactNumber(member)) {
    spendOnNumber(run, member)
    return { item, rank: 1, value: nearestDouble(member) }
  }
  if (typeof member === 'string') return { item, rank: 2, value: member }
  return { item, rank: member === null ? 4 : 3, value: 0 }
}

/** Ignores case, and treats everything as text. */
const naturalKey: KeyMaker = (item, member, run) => {
  if (member === null) return { item, rank: 4, value: 0 }
  const value = changeCase(run, textOf(member, run), text => text.toLowerCase())
  return { item, rank: 2, value }
}

const stepsPerItem = 64
const stepsPerComparison = 24

const sizeOf = (value: number | string): number => (typeof value === 'string' ? value.length : 0)

const compare = (a: Key, b: Key, run: Run): number => {
  // Two texts differ at the end of the shorter one at the latest.
  spend(run, stepsPerComparison + Math.min(sizeOf(a.value), sizeOf(b.value)))
  if (a.rank !== b.rank) return a.rank - b.rank
  if (a.value === b.value) return 0
  return a.value < b.value ? -1 : 1
}

const sortFilter = (makeKey: KeyMaker): FilterDefinition => ({
  required: [],
  optional: [nameRule],
  bind: operands => {
    const name = textAt(operands, 0, '')
    const steps = name === '' ? [] : name.split('.')
    return (input, run) => {
      const list = listOf(input, run)
      spend(run, list.length * (stepsPerItem + steps.length))
      const keys = list.map(item => makeKey(item, pickAll(item, steps, run), run))
      return keys.sort((a, b) => compare(a, b, run)).map(key => key.item)
    }
  },
})

export const sort = sortFilter(plainKey)

export const sortNatural = sortFilter(naturalKey)
