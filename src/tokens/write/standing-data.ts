/**
 * The data of a token that is being changed: parsed and merged once, in turns where it is long.
 *
 * @module
 */
import type { Json } from '../../json/json.ts'
import { parseStoredJson, parseStoredJsonInTurns } from '../../json/parse.ts'
import { printJson } from '../../json/print.ts'
import { printInTurns } from '../../json/print-turns.ts'
import { mergePatch } from '../../json/merge-patch.ts'
import { shortBodyBytesMax } from '../../limits.ts'
import type { LoadedToken } from '../read/load.ts'

export interface StandingData {
  readonly data: Json
  readonly dataText: string
}

type LetOthersIn = () => Promise<void>

/** Opens the data that stands before a change. */
export async function openStanding(
  { openData }: Pick<LoadedToken, 'openData'>,
  letOthersIn: LetOthersIn,
): Promise<StandingData> {
  const dataText = openData()
  const isLong = dataText.length > shortBodyBytesMax
  const data = isLong
    ? await parseStoredJsonInTurns(dataText, letOthersIn)
    : parseStoredJson(dataText)
  return { data, dataText }
}

/**
 * Merges, and prints what is long in turns: printing it again takes no time.
 * @param isHidden whether the changer sees nothing of the data
 * @throws ApiError `invalid_request` as `mergePatch`
 */
export async function mergeData(
  { data, dataText }: StandingData,
  patch: Json | undefined,
  letOthersIn: LetOthersIn,
  isHidden = false,
): Promise<Json> {
  const merged = patch === undefined ? data : mergePatch(data, patch, isHidden)
  const chars = patch === undefined ? dataText.length : dataText.length + printJson(patch).length
  if (chars > shortBodyBytesMax) await printInTurns(merged, letOthersIn)
  return merged
}
