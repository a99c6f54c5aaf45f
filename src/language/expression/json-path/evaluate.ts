/**
 * JSONPath: evaluation of a query, and the comparisons of its filters.
 * @module
 */
import {
  isExactNumber,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../../lib/json/json.ts'
import { isSameNumber, nearestDouble, type JsonNumber } from '../numbers.ts'
import { spend, type Run, spendOnNumber, countCodePoints } from '../run.ts'
import type {
  Operator,
  Comparable,
  FilterQuery,
  PathQuery,
  Segment,
  Selector,
  Test,
} from './parse-path.ts'

/*
 * Comparisons of JSONPath filters. Source: RFC 9535 section 2.3.5.2.2.
 */

const stepsPerValue = 32

const isNumber = (value: Json | undefined): value is JsonNumber =>
  typeof value === 'number' || isExactNumber(value)

/** Deep equality; undefined, which stands for Nothing, equals only itself. */
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
  const stepsPerLookUp = stepsPerValue * Math.ceil(Math.log2(b.size + 1))
  for (const [name, member] of a) {
    spend(run, stepsPerLookUp + name.length)
    if (!isEqual(run, member, b.get(name))) return false
  }
  return true
}

/** Steps for each character of two texts whose order is sought. */
const stepsPerOrderedChar = 4

const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff

/** Order of Unicode code points, in which surrogate pairs come after U+FFFF. */
const isTextBefore = (run: Run, a: string, b: string): boolean => {
  const shorter = Math.min(a.length, b.length)
  spend(run, shorter * stepsPerOrderedChar)
  for (let index = 0; index < shorter; index += 1) {
    const codeA = a.charCodeAt(index)
    const codeB = b.charCodeAt(index)
    if (codeA === codeB) continue
    if (isSurrogate(codeA) !== isSurrogate(codeB)) return isSurrogate(codeB)
    return codeA < codeB
  }
  return a.length < b.length
}

/** decision: numbers that no double holds are ordered by their nearest doubles. */
const isBefore = (run: Run, a: Json | undefined, b: Json | undefined): boolean => {
  if (isNumber(a) && isNumber(b)) {
    spendOnNumber(run, a)
    spendOnNumber(run, b)
    return nearestDouble(a) < nearestDouble(b)
  }
  return typeof a === 'string' && typeof b === 'string' && isTextBefore(run, a, b)
}

/** Values of different types are neither equal nor ordered. */
const compareValues = (
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

/*
 * Evaluation of a JSONPath query on a value. Source: RFC 9535 section 2.
 *
 * Nodes are passed on one by one, and the walk stops as soon as the answer is known; each step is
 * paid for, so that nested wildcards and filters end early.
 */

interface PathRun {
  readonly root: Json
  readonly run: Run
}

/** Receives a node; returning true ends the walk. */
type Visit = (node: Json) => boolean

const stepsPerNode = 64

/**
 * Returns the values that a query picks from `root`, in no guaranteed order, at most `most`.
 * @throws ApiError `invalid_request` when the walk is too long
 */
export const findValues = (query: PathQuery, root: Json, run: Run, most: number): Json[] =>
  findSome({ root, run }, query, root, most)

const findSome = (walk: PathRun, query: PathQuery, start: Json, most: number): Json[] => {
  const nodes: Json[] = []
  follow(walk, query, 0, start, node => nodes.push(node) >= most)
  return nodes
}

const follow = (
  walk: PathRun,
  query: PathQuery,
  depth: number,
  node: Json,
  visit: Visit,
): boolean => {
  spend(walk.run, stepsPerNode)
  const segment = query[depth]
  if (segment === undefined) return visit(node)
  const next: Visit = child => follow(walk, query, depth + 1, child, visit)
  return segment.isDescendant
    ? descend(walk, segment, node, next)
    : select(walk, segment, node, next)
}

/** Visits the node itself first, then everything below it, as deep as the data is. */
const descend = (walk: PathRun, segment: Segment, node: Json, next: Visit): boolean => {
  spend(walk.run, stepsPerNode)
  if (select(walk, segment, node, next)) return true
  return someChild(node, child => descend(walk, segment, child, next))
}

const someChild = (node: Json, visit: Visit): boolean => {
  if (isJsonArray(node)) return node.some(visit)
  if (!isJsonObject(node)) return false
  for (const member of node.values()) {
    if (visit(member)) return true
  }
  return false
}

const select = (walk: PathRun, segment: Segment, node: Json, next: Visit): boolean =>
  segment.selectors.some(selector => selectOne(walk, selector, node, next))

const selectOne = (walk: PathRun, selector: Selector, node: Json, next: Visit): boolean => {
  switch (selector.kind) {
    case 'name':
      if (!isJsonObject(node)) return false
      spend(walk.run, node.size)
      return visitOwn(node.get(selector.name), next)
    case 'index':
      return isJsonArray(node) && visitOwn(node.at(selector.index), next)
    case 'wildcard':
      return someChild(node, next)
    case 'slice':
      return isJsonArray(node) && selectSlice(walk, selector, node, next)
    case 'filter':
      return someChild(node, child => passes(walk, selector.test, child) && next(child))
  }
}

const visitOwn = (node: Json | undefined, next: Visit): boolean => node !== undefined && next(node)

/** Section 2.3.4.2.2: bounds from the end, clamped, the upper one open. */
const selectSlice = (
  walk: PathRun,
  slice: Selector & { kind: 'slice' },
  list: readonly Json[],
  next: Visit,
): boolean => {
  const { length } = list
  const { step } = slice
  if (step === 0) return false
  const clamp = (bound: number, least: number, most: number): number =>
    Math.min(Math.max(bound < 0 ? length + bound : bound, least), most)
  const [least, most] = step > 0 ? [0, length] : [-1, length - 1]
  const start = slice.start === undefined ? (step > 0 ? 0 : most) : clamp(slice.start, least, most)
  const end = slice.end === undefined ? (step > 0 ? most : -1) : clamp(slice.end, least, most)
  for (let index = start; step > 0 ? index < end : index > end; index += step) {
    spend(walk.run, stepsPerNode)
    if (visitOwn(list[index], next)) return true
  }
  return false
}

const passes = (walk: PathRun, test: Test, node: Json): boolean => {
  spend(walk.run, stepsPerNode)
  switch (test.kind) {
    case 'any':
      return test.tests.some(each => passes(walk, each, node))
    case 'all':
      return test.tests.every(each => passes(walk, each, node))
    case 'not':
      return !passes(walk, test.test, node)
    case 'exists':
      return findNodes(walk, test.query, node, 1).length > 0
    case 'compare': {
      const left = valueOf(walk, test.left, node)
      return compareValues(walk.run, left, test.operator, valueOf(walk, test.right, node))
    }
  }
}

const findNodes = (walk: PathRun, query: FilterQuery, node: Json, most: number): Json[] =>
  findSome(walk, query.segments, query.isRelative ? node : walk.root, most)

/** Returns the value to compare; undefined stands for Nothing (section 2.4.1). */
const valueOf = (walk: PathRun, comparable: Comparable, node: Json): Json | undefined => {
  switch (comparable.kind) {
    case 'constant':
      return comparable.value
    case 'query':
      return findNodes(walk, comparable.query, node, 1)[0]
    case 'length':
      return lengthOf(valueOf(walk, comparable.of, node), walk.run)
    case 'count':
      return findNodes(walk, comparable.query, node, Number.POSITIVE_INFINITY).length
    case 'value': {
      const nodes = findNodes(walk, comparable.query, node, 2)
      return nodes.length === 1 ? nodes[0] : undefined
    }
  }
}

/** Section 2.4.4: code points, elements or members; Nothing for other values. */
const lengthOf = (value: Json | undefined, run: Run): number | undefined => {
  if (typeof value === 'string') {
    spend(run, value.length)
    return countCodePoints(value)
  }
  if (isJsonArray(value)) return value.length
  return isJsonObject(value) ? value.size : undefined
}
