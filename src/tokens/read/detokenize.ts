/**
 * Detokenizing: replaces references to tokens in any JSON with what the caller may use.
 * @module
 */
import { compileTemplate, type CompiledTemplate } from '../../language/expression/compile.ts'
import { printPaid, startRun } from '../../language/expression/run.ts'
import { type Json, printJson } from '../../lib/json/json.ts'
import { assertTokenId } from '../../rules/token-ids.ts'
import { invalid, addFault, throwFaults, type Faults, ApiError } from '../../lib/errors.ts'
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { parseStoredJson } from '../../lib/json/parse-json.ts'
import { listLeaves, printFrame, type Leaf } from '../../lib/json/leaves.ts'
import { TextMap, type ReadonlyTextMap } from '../../lib/maps.ts'
import { bulkAnswerCharsMax, bulkLeavesMax } from '../../limits/limits.ts'
import { jsonTurnChars } from '../../limits/work-limits.ts'
import { makeTextCount, noteShown, noteTold, type Budgeted } from '../../records/budgeted.ts'
import { loadToken } from './load.ts'
import { spendLookup } from '../find/guesses.ts'
import { shownData } from './view.ts'
import { makeWork, type PacedWork } from '../../lib/work.ts'

/*
 * References to tokens inside other JSON: `{{ <token id> }}` and `{{ <token id> | filters }}`.
 *
 * Ids may hold characters that expressions cannot, so the id is read here, up to the first bar or
 * the closing braces, and the filters are compiled as an expression on the token's data. Blanks
 * around the id are not part of it. Source: contract section 15.
 */

interface Reference {
  readonly id: string
  /** Expression on `data`; absent if the data itself is wanted. */
  readonly template?: CompiledTemplate
}

const opening = '{{'
const closing = '}}'

/**
 * @param at  place of the value, for errors
 * @returns `undefined` for a value without `{{`, which stands for itself
 * @throws ApiError `invalid_request` for a text that holds `{{` and is not exactly one reference
 */
export function readReference(value: Json, at: string): Reference | undefined {
  if (typeof value !== 'string' || !value.includes(opening)) return undefined
  if (!value.startsWith(opening) || !value.endsWith(closing)) {
    throw invalid(at, 'expected {{ and }} around the whole text, or none of them')
  }
  const inner = value.slice(opening.length, -closing.length)
  const bar = inner.indexOf('|')
  const id = (bar < 0 ? inner : inner.slice(0, bar)).trim()
  assertTokenId(id, at)
  if (bar < 0) return { id }
  const template = compileTemplate(`{{ data ${inner.slice(bar)}}}`, at, 'mask')
  if (!template.isWhole) throw invalid(at, 'expected one reference')
  return { id, template }
}

/*
 * Replaces the references in any JSON.
 *
 * Source: contract section 15, under `token:use`. decision: a reference to a token that is absent,
 * out of reach, or shown as nothing is a 400 that does not say which; all faults are reported at
 * once. Under a masking rule the caller only gets the mask: filters then work on the masked value.
 */

/** One place that refers to a token. */
interface Use {
  readonly at: string
  readonly index: number
  readonly reference: Reference
}

/** The part of a token that the caller may use. */
interface Usable {
  readonly text: string
  /** The same text, parsed once a filter needs it. */
  json: Json | undefined
}

const nothingIsLeaf = (): boolean => false

/** Runs the task and adds an error of the request to the faults. */
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

/** Groups the uses by token id, so that each token is read once. */
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

/** Returns `undefined` when there is nothing that the caller may use. */
async function findUsable(
  deps: Deps,
  caller: Caller & Budgeted,
  id: string,
  { meter }: PacedWork,
): Promise<Usable | undefined> {
  try {
    const { record, unsealData, transform } = await loadToken(deps, caller, 'token:use', id)
    const text = shownData(transform, record, unsealData, meter)
    // Reported and charged like an absent token.
    if (text === undefined) spendLookup(deps, caller, 'token:use')
    if (text === undefined) return undefined
    noteShown(caller, record.id, transform)
    return { text, json: undefined }
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.kind === 'not_found') return undefined
    throw thrown
  }
}

const pathMissed =
  'the path of the filter json meets nothing in what you may use of this token: ' +
  "correct it, or put | default: '' behind it"

/** The same for absent and hidden tokens. An id may have dots, which pick no member here. */
const notUsable = (at: string, { id }: Reference): ApiError => {
  const hint = id.includes('.') ? "; a member is picked by {{ id | json: '$.member' }}" : ''
  return invalid(at, `expected a token that you may use${hint}`)
}

function usedText(
  { at, reference }: Use,
  usable: Usable | undefined,
  { meter }: PacedWork,
): string {
  if (usable === undefined) throw notUsable(at, reference)
  const { template } = reference
  if (template === undefined) return usable.text
  usable.json ??= parseStoredJson(usable.text)
  const run = startRun({ at, data: usable.json, meter })
  const value = template.evaluate(run)
  // Writing null instead would look like a stored null.
  if (run.isPathMissed === true) throw invalid(at, pathMissed)
  return printPaid(value, run)
}

/** True if a filter works on so long a text that parsing it takes milliseconds. */
const isLongToParse = (usable: Usable | undefined, uses: readonly Use[]): boolean =>
  usable !== undefined &&
  usable.text.length > jsonTurnChars &&
  uses.some(({ reference }) => reference.template !== undefined)

/**
 * @returns the JSON text of the body with each reference replaced
 * @param countItems called with the number of values before any is read
 * @throws ApiError `invalid_request` with all faults
 */
export async function detokenize(
  deps: Deps,
  caller: Caller & Budgeted,
  body: Json,
  countItems: (count: number) => void,
): Promise<string> {
  const leaves = listLeaves(body, nothingIsLeaf, bulkLeavesMax)
  countItems(leaves.length)
  const faults: Faults = new Map()
  const texts = leaves.map(({ value }) => printJson(value))
  const work = makeWork(deps, caller)
  const counted = makeTextCount(caller)
  for (const [id, uses] of groupUses(leaves, faults)) {
    const usable = await findUsable(deps, caller, id, work)
    if (isLongToParse(usable, uses)) await deps.turns.soon(caller)
    for (const use of uses) {
      if (usable !== undefined && use.reference.template !== undefined) noteTold(caller)
      const text = collecting(faults, () => usedText(use, usable, work)) ?? ''
      texts[use.index] = text
      if (counted.add(text) > bulkAnswerCharsMax) {
        throw invalid('body', `expected tokens of at most ${bulkAnswerCharsMax} characters in all`)
      }
      counted.reserve()
      await work.pause()
    }
  }
  throwFaults(faults)
  return printFrame(body, nothingIsLeaf, texts)
}
