/**
 * Detokenizing any JSON: references to tokens are replaced by what the caller may use of them.
 *
 * Source: contract section 15, under `token:use`. decision: a reference to a token that is absent,
 * out of reach, or shown as nothing is a 400 that does not say which; all faults are told at once.
 * A mask is all that a masking rule gives: filters work on the masked value then.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { evaluateTemplate } from '../../language/expression/evaluate.ts'
import { addFault, throwFaults, type Faults } from '../../rules/faults.ts'
import type { Json } from '../../json/json.ts'
import { parseStoredJson } from '../../json/parse.ts'
import { printJson } from '../../json/print.ts'
import { listLeaves, printFrame, type Leaf } from '../../json/leaves.ts'
import { TextMap, type ReadonlyTextMap } from '../../text/map.ts'
import { ApiError, invalid } from '../../errors.ts'
import { bulkAnswerCharsMax, bulkLeavesMax } from '../../limits.ts'
import type { Housed } from '../../records/room.ts'
import { loadToken } from './load.ts'
import { readReference, type Reference } from './reference.ts'
import { shownData } from './view.ts'
import { openWork, type Work } from './work.ts'

/** One place that asks for a token. */
interface Use {
  readonly at: string
  readonly index: number
  readonly reference: Reference
}

/** What the caller may use of one token. */
interface Usable {
  readonly text: string
  /** The same, parsed when a filter needs it. */
  json: Json | undefined
}

const nothingIsLeaf = (): boolean => false

/** Runs the task; what is wrong with the request goes to the faults. */
function collecting<T>(faults: Faults, task: () => T): T | undefined {
  try {
    return task()
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.fields === undefined) throw thrown
    for (const [at, messages] of Object.entries(thrown.fields)) {
      for (const expected of messages) addFault(faults, at, expected)
    }
    return undefined
  }
}

/** The uses of each token, by its id, so that each is read once. */
function groupUses(leaves: readonly Leaf[], faults: Faults): ReadonlyTextMap<readonly Use[]> {
  const uses = new TextMap<Use[]>()
  for (const [index, { at: place, value }] of leaves.entries()) {
    const at = place || 'body'
    const reference = collecting(faults, () => readReference(value, at))
    if (reference === undefined) continue
    const known = uses.get(reference.id)
    if (known === undefined) uses.set(reference.id, [{ at, index, reference }])
    else known.push({ at, index, reference })
  }
  return uses
}

/** `undefined` when there is nothing that the caller may use. */
async function findUsable(
  deps: Deps,
  caller: Caller,
  id: string,
  { meter }: Work,
): Promise<Usable | undefined> {
  try {
    const { record, openData, transform } = await loadToken(deps, caller, 'token:use', id)
    const text = shownData(transform, record.maskText, openData, meter)
    return text === undefined ? undefined : { text, json: undefined }
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.kind === 'not_found') return undefined
    throw thrown
  }
}

function textOf({ at, reference }: Use, usable: Usable | undefined, { meter }: Work): string {
  if (usable === undefined) throw invalid(at, 'expected a token that you may use')
  const { template } = reference
  if (template === undefined) return usable.text
  usable.json ??= parseStoredJson(usable.text)
  return printJson(evaluateTemplate(template, { at, data: usable.json, meter }))
}

/**
 * @returns the JSON text of the body with each reference replaced
 * @param countItems is told how many values there are, before anything is done
 * @throws ApiError `invalid_request` with all faults
 */
export async function detokenize(
  deps: Deps,
  caller: Caller & Housed,
  body: Json,
  countItems: (count: number) => void,
): Promise<string> {
  const leaves = listLeaves(body, nothingIsLeaf, bulkLeavesMax)
  countItems(leaves.length)
  const faults: Faults = new Map()
  const texts = leaves.map(({ value }) => printJson(value))
  const work = openWork(deps, caller)
  let chars = 0
  for (const [id, uses] of groupUses(leaves, faults)) {
    const usable = await findUsable(deps, caller, id, work)
    for (const use of uses) {
      const text = collecting(faults, () => textOf(use, usable, work)) ?? ''
      texts[use.index] = text
      chars += text.length
      if (chars > bulkAnswerCharsMax) {
        throw invalid('body', `expected tokens of at most ${bulkAnswerCharsMax} characters in all`)
      }
      caller.room?.needs(chars)
      await work.pause()
    }
  }
  throwFaults(faults)
  return printFrame(body, nothingIsLeaf, texts)
}
