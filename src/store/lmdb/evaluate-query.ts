/**
 * Queries on chunks of ordinals: which chunks can match at all, and what matches in one of them.
 *
 * @module
 */
import type { Digest, Query } from '../contract.ts'
import { chunkOf, lowOf } from './chunk-key.ts'
import { emptySet, intersect, subtract, unite, type Container } from './container.ts'
import type { Environment } from './environment.ts'
import { listChunks, readChunk } from './postings.ts'
import { readUnique } from './stored-rows.ts'

/** A query whose uniques are looked up: each is the one ordinal that it leads to, or nothing. */
export type Plan =
  | { readonly term: Digest }
  | { readonly ordinal: number | undefined }
  | { readonly all: readonly Plan[] }
  | { readonly any: readonly Plan[] }
  | { readonly from: Plan; readonly except: Plan }

/** @throws ApiError `storage_corrupt` */
export function planQuery(environment: Environment, query: Query): Plan {
  if ('term' in query) return query
  if ('unique' in query) return { ordinal: readUnique(environment, query.unique)?.ordinal }
  if ('all' in query) return { all: query.all.map(part => planQuery(environment, part)) }
  if ('any' in query) return { any: query.any.map(part => planQuery(environment, part)) }
  return {
    from: planQuery(environment, query.from),
    except: planQuery(environment, query.except),
  }
}

/**
 * The chunks of a plan in ascending order, a few too many at most; `undefined` when more than
 * `max` of some term would have to be listed. Within `all` the shortest list is enough.
 */
function listCandidates(env: Environment, plan: Plan, max: number): number[] | undefined {
  if ('term' in plan) return listChunks(env.terms, plan.term, max)
  if ('ordinal' in plan) return plan.ordinal === undefined ? [] : [chunkOf(plan.ordinal)]
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
 * that a rare term spares the listing of every common one beside it.
 */
export function candidateChunks(environment: Environment, plan: Plan): number[] {
  for (let max = firstMax; ; max *= growth) {
    const chunks = listCandidates(environment, plan, max)
    if (chunks !== undefined) return chunks.reverse()
  }
}

/** What matches within one chunk. @throws ApiError `storage_corrupt` */
export function evaluateChunk(env: Environment, plan: Plan, chunk: number): Container {
  if ('term' in plan) return readChunk(env.terms, plan.term, chunk)
  if ('ordinal' in plan) {
    const { ordinal } = plan
    if (ordinal === undefined || chunkOf(ordinal) !== chunk) return emptySet
    return Uint16Array.of(lowOf(ordinal))
  }
  if ('any' in plan) {
    let found: Container = emptySet
    for (const part of plan.any) found = unite(found, evaluateChunk(env, part, chunk))
    return found
  }
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
