/**
 * Templates that make rows into tokens: a request to create a token, with expressions on the row.
 *
 * `data` in an expression is the row. Members that are expressions for the vault itself (`mask`,
 * `search_indexes`, `fingerprint_expression`) are sent as they are. A member whose expression gives
 * null is left out. Source: decision, docs/move-data.md.
 * @module
 */
import { ApiError, expectedBy } from '../../lib/errors.ts'
import { readRegular } from '../../lib/files.ts'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../lib/json/json.ts'
import { decodeUtf8, parseJson } from '../../lib/json/parse-json.ts'
import { compileTemplate } from '../../language/expression/compile.ts'
import { startRun, type Run } from '../../language/expression/run.ts'
import type { Operand } from '../../language/expression/tree.ts'
import { mapFileBytesMax } from '../../limits/operation-limits.ts'
import { tokenTypeNames, tokenTypeOf } from '../../rules/token-types.ts'
import { usage } from '../../server/process/failure.ts'
import { withFile } from './named-file.ts'

const evaluated = [
  'id',
  'type',
  'data',
  'containers',
  'metadata',
  'expires_at',
  'deduplicate_token',
] as const
const literal = ['mask', 'search_indexes', 'fingerprint_expression'] as const
const members: readonly string[] = [...evaluated, ...literal]

export interface RowTemplate {
  readonly text: string
  readonly request: JsonObject
  /** Columns that it names. */
  readonly columns: readonly string[]
}

function* textsOf(value: Json, at: string): Generator<readonly [at: string, text: string]> {
  if (typeof value === 'string') yield [at, value]
  else if (isJsonArray(value))
    for (const [n, each] of value.entries()) yield* textsOf(each, `${at}[${n}]`)
  else if (isJsonObject(value))
    for (const [name, each] of value) yield* textsOf(each, `${at}.${name}`)
}

function columnOf(operand: Operand): readonly string[] {
  if (operand.kind !== 'path') return []
  const [first] = operand.steps
  return typeof first === 'string' ? [first] : []
}

/** @throws CommandFailure for an invalid expression */
function columnsIn(text: string, at: string): readonly string[] {
  try {
    const { parts } = compileTemplate(text, at, 'mask')
    return parts.flatMap(part =>
      typeof part === 'string'
        ? []
        : [part.source, ...part.filters.flatMap(({ operands }) => operands)].flatMap(columnOf),
    )
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw usage(`the map: ${at}: ${expectedBy(error)}`)
  }
}

/** @throws CommandFailure */
export function readTemplate(path: string): RowTemplate {
  const most = `of at most ${mapFileBytesMax} bytes`
  const wanted = `--map: ${path}: expected a JSON object ${most}`
  let text: string
  let request: Json
  const bytes = withFile('--map', path, () => readRegular(path, mapFileBytesMax))
  if (bytes === undefined) throw usage(wanted)
  try {
    text = decodeUtf8(bytes)
    request = parseJson(text)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw usage(`${wanted}: ${expectedBy(error)}`)
  }
  if (!isJsonObject(request)) throw usage(wanted)
  const unknown = [...request.keys()].findIndex(name => !members.includes(name))
  if (unknown >= 0) {
    throw usage(`the map: member ${unknown + 1} is unknown: expected ${members.join(', ')}`)
  }
  if (!request.has('type') || !request.has('data')) throw usage('the map: expected type and data')
  const type = request.get('type')
  const isFixed = typeof type !== 'string' || !type.includes('{{')
  if (isFixed && (typeof type !== 'string' || tokenTypeOf(type) === undefined)) {
    throw usage(`the map: type: expected an expression, or one of ${tokenTypeNames.join(', ')}`)
  }
  const columns = evaluated.flatMap(name =>
    [...textsOf(request.get(name) ?? null, name)].flatMap(([at, each]) => columnsIn(each, at)),
  )
  return { text, request, columns: [...new Set(columns)] }
}

function fill(value: Json, at: string, run: (at: string) => Run): Json {
  if (typeof value === 'string') return compileTemplate(value, at, 'mask').evaluate(run(at))
  if (isJsonArray(value)) return value.map((each, index) => fill(each, `${at}[${index}]`, run))
  if (!isJsonObject(value)) return value
  const filled = new Map<string, Json>()
  for (const [name, each] of value) {
    const member = fill(each, `${at}.${name}`, run)
    if (member !== null || each === null) filled.set(name, member)
  }
  return filled
}

/** @throws ApiError `invalid_request` that holds no value of the row */
export function applyTemplate({ request }: RowTemplate, row: Json): JsonObject {
  const filled = new Map<string, Json>()
  const run = (at: string) => startRun({ at, data: row })
  for (const [name, value] of request) {
    const isLiteral = (literal as readonly string[]).includes(name)
    const member = isLiteral ? value : fill(value, name, run)
    if (member !== null || value === null) filled.set(name, member)
  }
  return filled
}
