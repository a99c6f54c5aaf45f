/**
 * Queries on chunks of ordinals: which chunks can match at all, and what matches in one of them.
 *
 * @module
 */
import { chunkOrdinals } from '../../../limits.ts'
import { keyOf } from '../../check-changes.ts'
import type { Digest, Query } from '../../contract.ts'
import { chunkOf, lowOf } from './chunk-key.ts'
import { emptySet, intersect, setOf, subtract, uniteAll, type Container } from './container.ts'
import type { Environment } from '../environment.ts'
import { readNextOrdinal } from '../meta.ts'
import { listChunks, readChunk } from './postings.ts'
import { readUnique } from '../rows/stored-rows.ts'

/** A term, and what was last read of it: however often a query names it, it is read once. */
interface TermPlan {
  readonly term: Digest
  listedMax: number
  listed: number[] | undefined
  chunk: number
  set: Container
}

/** A query whose uniques are looked up: what is not a term is a given set, by chunk. */
export type Plan =
  | TermPlan
  | { readonly sets: ReadonlyMap<number, Container> }
  | { readonly all: readonly Plan[] }
  | { readonly any: readonly Plan[] }
  | { readonly from: Plan; readonly except: Plan }

function setsOf(ordinals: readonly number[]): Plan {
  const places = new Map<number, number[]>()
  for (const ordinal of ordinals) {
    const chunk = chunkOf(ordinal)
    const known = places.get(chunk)
    if (known === undefined) places.set(chunk, [lowOf(ordinal)])
    else known.push(lowOf(ordinal))
  }
  return { sets: new Map([...places].map(([chunk, lows]) => [chunk, setOf(lows)])) }
}

function planUnique(environment: Environment, unique: Digest): Plan {
  const ordinal = readUnique(environment, unique)?.ordinal
  return setsOf(ordinal === undefined ? [] : [ordinal])
}

function planTerm(plans: Map<string, TermPlan>, term: Digest): TermPlan {
  const key = keyOf(term)
  const known = plans.get(key)
  if (known !== undefined) return known
  const plan = { term, listedMax: 0, listed: undefined, chunk: -1, set: emptySet }
  plans.set(key, plan)
  return plan
}

function planNode(env: Environment, plans: Map<string, TermPlan>, query: Query): Plan {
  if ('term' in query) return planTerm(plans, query.term)
  if ('unique' in query) return planUnique(env, query.unique)
  if ('ordinals' in query) return setsOf(query.ordinals)
  if ('all' in query) return { all: query.all.map(part => planNode(env, plans, part)) }
  if ('any' in query) return { any: query.any.map(part => planNode(env, plans, part)) }
  return { from: planNode(env, plans, query.from), except: planNode(env, plans, query.except) }
}

/** @throws ApiError `storage_corrupt` */
export const planQuery = (environment: Environment, query: Query): Plan =>
  planNode(environment, new Map(), query)

function listTerm({ terms }: Environment, plan: TermPlan, max: number): number[] | undefined {
  if (plan.listed === undefined && plan.listedMax < max) {
    plan.listed = listChunks(terms, plan.term, max)
    plan.listedMax = max
  }
  return plan.listed
}

function readTerm({ terms }: Environment, plan: TermPlan, chunk: number): Container {
  if (plan.chunk !== chunk) {
    plan.set = readChunk(terms, plan.term, chunk)
    plan.chunk = chunk
  }
  return plan.set
}

/**
 * The chunks of a plan in ascending order, a few too many at most; `undefined` when more than
 * `max` of some term would have to be listed. Within `all` the shortest list is enough.
 */
function listCandidates(env: Environment, plan: Plan, max: number): number[] | undefined {
  if ('term' in plan) return listTerm(env, plan, max)
  if ('sets' in plan) return [...plan.sets.keys()].sort((a, b) => a - b)
  if ('from' in plan) return listCandidates(env, plan.from, max)
  if ('all' in plan) {
    const lists = plan.all.flatMap(part => {
      const list = listCandidates(env, part, max)
      return list === undefined ? [] : [list]
    })
    return lists.sort((a, b) => a.length - b.length)[0]
  }
  const all = new Set<number>()
  for (const part of plan.any) {
    const list = listCandidates(env, part, max)
    if (list === undefined) return undefined
    for (const chunk of list) all.add(chunk)
  }
  return [...all].sort((a, b) => a - b)
}

const firstMax = 64
const growth = 16

/**
 * The chunks in which a plan can match, newest first. Lists of terms are read in growing steps, so
 * that a rare term spares the listing of every common one beside it. Of a store of one chunk none
 * is listed: to look into that chunk costs less than to ask for a list.
 */
export function candidateChunks(environment: Environment, plan: Plan): number[] {
  if (readNextOrdinal(environment) <= chunkOrdinals) return [0]
  for (let max = firstMax; ; max *= growth) {
    const chunks = listCandidates(environment, plan, max)
    if (chunks !== undefined) return chunks.toReversed()
  }
}

/** What matches within one chunk. @throws ApiError `storage_corrupt` */
export function evaluateChunk(env: Environment, plan: Plan, chunk: number): Container {
  if ('term' in plan) return readTerm(env, plan, chunk)
  if ('sets' in plan) return plan.sets.get(chunk) ?? emptySet
  if ('any' in plan) return uniteAll(plan.any.map(part => evaluateChunk(env, part, chunk)))
  if ('from' in plan) {
    const from = evaluateChunk(env, plan.from, chunk)
    return from.length === 0 ? from : subtract(from, evaluateChunk(env, plan.except, chunk))
  }
  let found: Container | undefined
  for (const part of plan.all) {
    if (found?.length === 0) break
    const set = evaluateChunk(env, part, chunk)
    found = found === undefined ? set : intersect(found, set)
  }
  return found ?? emptySet
}
