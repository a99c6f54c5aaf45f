/**
 * Patches: what is wrong with one by itself, and what it makes of the data of a token.
 * @module
 */
import { compileTemplate } from '../../language/expression/compile.ts'
import { parseFutureInstant } from '../../rules/instants.ts'
import { type Json, printJson } from '../../lib/json/json.ts'
import { checkMask } from '../../rules/mask.ts'
import { mergePatch } from '../../lib/json/merge-patch.ts'
import { invalid } from '../../lib/errors.ts'
import {
  assertDataFits,
  composeContainers,
  composeMetadata,
  nothingToEqual,
  printMask,
  type Guards,
} from './compose.ts'
import type { TokenPatch } from '../schema.ts'
import { parseStoredJson, parseStoredJsonInTurns } from '../../lib/json/parse-json.ts'
import { printInTurns } from '../../lib/json/print-turns.ts'
import { shortBodyBytesMax } from '../../limits/limits.ts'
import type { LoadedToken } from '../read/load.ts'

/*
 * Refuses a patch that is wrong by itself, whatever token it is for.
 *
 * It is told before the token is looked for: a fault of a body is 400 also where there is no such
 * token (contract section 2). What depends on the token is found by `compose.ts`, after that.
 * Invariant: what is refused here would be refused with any token.
 */

/** The part of a patch that any result contains: all but its nulls, which remove. */
const added = (patch: Json): Json => mergePatch(undefined, patch)

function assertMask(patch: Json): void {
  const mask = added(patch)
  printMask(mask)
  checkMask(mask, 'mask')
}

function assertFingerprintExpression({ deduplicate_token, ...body }: TokenPatch): void {
  const { fingerprint_expression: expression } = body
  if (typeof expression !== 'string') return
  const template = compileTemplate(expression, 'fingerprint_expression', 'fingerprint')
  if (deduplicate_token === true && template.isConstant) throw nothingToEqual()
}

/** @throws ApiError `invalid_request`, with the faults that `composeToken` would find first */
export function assertPatch(guards: Guards, nowMs: number, body: TokenPatch): void {
  const { data, mask, metadata, containers, search_indexes: indexes, expires_at: expires } = body
  if (data === null) throw invalid('data', 'expected a value: data cannot be removed')
  if (typeof expires === 'string') parseFutureInstant(expires, 'expires_at', nowMs)
  if (data !== undefined) assertDataFits(Buffer.byteLength(printJson(added(data))))
  if (containers !== undefined) composeContainers(guards, containers)
  if (metadata !== undefined && metadata !== null) composeMetadata(guards, metadata)
  if (mask !== undefined && mask !== null) assertMask(mask)
  assertFingerprintExpression(body)
  for (const [index, expression] of (indexes ?? []).entries()) {
    compileTemplate(expression, `search_indexes[${index}]`, 'search_index')
  }
}

/*
 * The data of a token that is being changed: parsed and merged once, in turns where it is long.
 */

export interface StandingData {
  readonly data: Json
  readonly dataText: string
}

type Pause = () => Promise<void>

/** Opens the data that stands before a change. */
export async function parseStanding(
  { unsealData }: Pick<LoadedToken, 'unsealData'>,
  pause: Pause,
): Promise<StandingData> {
  const dataText = unsealData()
  const isLong = dataText.length > shortBodyBytesMax
  const data = isLong ? await parseStoredJsonInTurns(dataText, pause) : parseStoredJson(dataText)
  return { data, dataText }
}

/**
 * Merges, and prints what is long in turns: printing it again takes no time.
 * @param isHidden whether the changer does not see all of the data
 * @throws ApiError `invalid_request` as `mergePatch`
 */
export async function mergeData(
  { data, dataText }: StandingData,
  patch: Json | undefined,
  pause: Pause,
  isHidden = false,
): Promise<Json> {
  const merged = patch === undefined ? data : mergePatch(data, patch, isHidden)
  const chars = patch === undefined ? dataText.length : dataText.length + printJson(patch).length
  if (chars > shortBodyBytesMax) await printInTurns(merged, pause)
  return merged
}
