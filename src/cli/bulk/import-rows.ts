/**
 * Turns records into requests to create a token, or into the reason why there is none.
 * @module
 */
import { ApiError } from '../../lib/errors.ts'
import { isJsonObject, printJson, type Json, type JsonObject } from '../../lib/json/json.ts'
import { parseJson } from '../../lib/json/parse-json.ts'
import { tokenTypeNames, tokenTypeOf } from '../../rules/token-types.ts'
import { usage } from '../../server/process/failure.ts'
import { counted } from '../table.ts'
import { fieldsOf, makeCsvFile } from './csv.ts'
import { endOfLine, recordsOf, type TextRecord } from './records.ts'
import { applyTemplate, type RowTemplate } from './template.ts'

/** Members of a token's answer that a request may not hold. */
const answeredAlone: readonly string[] = [
  'tenant_id',
  'fingerprint',
  'created_by',
  'created_at',
  'modified_by',
  'modified_at',
  '_extras',
]

export interface InputRow {
  readonly line: number
  /** Offset at which the next one begins. */
  readonly end: number
  readonly request?: Json
  readonly text?: string
  /** Reason why there is no request; holds no value. */
  readonly reason?: string
  readonly isBlank?: boolean
}

export interface RowOptions {
  readonly template: RowTemplate | undefined
  readonly format: 'csv' | 'jsonl'
  readonly delimiter?: string
  /** True to accept card codes. */
  readonly codes?: boolean
}

type Heard = (bytes: Uint8Array) => void

/** The part of a place in a request that can hold no value: names, never numbers. */
const plainPath = /^[a-z_]+(?:\.[a-zA-Z_]+|\[\d{1,4}\])*$/

export function reasonOf(fields: Readonly<Record<string, readonly string[]>>): string {
  const told = Object.entries(fields).map(([path, expected]) => {
    const shown = plainPath.test(path) ? path : (/^[a-z_]+/.exec(path)?.[0] ?? 'row')
    return `${shown}: ${expected.join(', ')}`
  })
  return told.join('; ')
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

const notUtf8 = 'it is not UTF-8: --encoding windows-1252 may be what it is'

/** @returns the reason why the vault would not take it as one token */
function faultOf(request: JsonObject, { codes }: RowOptions): string | undefined {
  const type = request.get('type')
  const data = request.get('data')
  const id = request.get('id')
  if (typeof type !== 'string' || tokenTypeOf(type) === undefined) {
    return `type: expected one of ${tokenTypeNames.join(', ')}`
  }
  if (data === undefined || data === null) return 'data: expected some'
  if (typeof id === 'string' && id.includes('{{')) return 'id: expected no expression'
  const hasCode = type === 'card' && isJsonObject(data) && data.has('cvc')
  if (hasCode && codes !== true) return 'data.cvc: a code is not to be kept; --codes sends it'
  return undefined
}

type Read = { readonly request: Json; readonly text: string } | { readonly reason: string }

function requestOf(row: Json, options: RowOptions): Read {
  const { template } = options
  const request = template === undefined ? row : applyTemplate(template, row)
  if (!isJsonObject(request)) return { reason: 'expected a JSON object' }
  const sent = new Map([...request].filter(([name]) => !answeredAlone.includes(name)))
  const reason = faultOf(sent, options)
  return reason === undefined ? { request: sent, text: printJson(sent) } : { reason }
}

function readLine(text: string, options: RowOptions): Read {
  let row: Json
  try {
    row = parseJson(text)
  } catch (error) {
    if (error instanceof ApiError) return { reason: 'expected JSON, one object a line' }
    throw error
  }
  return requestOf(row, options)
}

interface Columns {
  readonly names: readonly string[]
  readonly delimiter: string
}

function readFields(
  text: string,
  { names, delimiter }: Columns,
  options: RowOptions,
): Read | undefined {
  const fields = fieldsOf(text, delimiter)
  if (fields.every(field => field.trim() === '')) return undefined
  if (fields.length !== names.length) {
    return { reason: `expected ${counted(names.length, 'column')}, got ${fields.length}` }
  }
  const row = new Map<string, Json>()
  for (const [at, name] of names.entries())
    row.set(name, fields[at] === '' ? null : (fields[at] ?? null))
  return requestOf(row, options)
}

/** @param read returns `undefined` for a blank row */
function rowOf(
  { line, end, bytes, fault }: TextRecord,
  read: (text: string) => Read | undefined,
): InputRow {
  const place = { line, end }
  if (fault !== undefined) return { ...place, reason: fault }
  const text = decode(bytes)
  if (text === undefined) return { ...place, reason: notUtf8 }
  if (text.trim() === '') return { ...place, isBlank: true }
  try {
    const told = read(text)
    return told === undefined ? { ...place, isBlank: true } : { ...place, ...told }
  } catch (error) {
    if (error instanceof ApiError) {
      return {
        ...place,
        reason: error.fields === undefined ? error.message : reasonOf(error.fields),
      }
    }
    throw error
  }
}

/** @throws CommandFailure for a column of the map that the file lacks, or has twice */
function columnsOf(header: string, delimiter: string, { template }: RowOptions): Columns {
  const names = fieldsOf(header, delimiter).map(name => name.trim())
  for (const wanted of template?.columns ?? []) {
    const count = names.filter(name => name === wanted).length
    if (count === 1) continue
    const place = JSON.stringify(wanted)
    const said =
      count === 0 ? `no column is called ${place}` : `${count} columns are called ${place}`
    throw usage(
      `the map: ${said}: the header has ${counted(names.length, 'column')}; names are compared ` +
        'exactly, and --delimiter says what parts them',
    )
  }
  return { names, delimiter }
}

/** The first row that is not blank is the header. */
async function* csvRows(
  chunks: AsyncIterable<Uint8Array>,
  options: RowOptions,
  heard: Heard,
): AsyncGenerator<InputRow, void> {
  const file = makeCsvFile(options.delimiter)
  let columns: Columns | undefined
  for await (const record of recordsOf(chunks, { findEnd: file.findEnd, heard })) {
    if (columns !== undefined) {
      const known = columns
      yield rowOf(record, text => readFields(text, known, options))
      continue
    }
    const header = decode(record.bytes)
    if (header === undefined || record.fault !== undefined) {
      throw usage(`the header, line ${record.line}: ${record.fault ?? notUtf8}`)
    }
    if (header.trim() !== '') columns = columnsOf(header, file.delimiter(), options)
  }
  if (columns === undefined)
    throw usage('the file: expected a header with the names of its columns')
}

async function* jsonRows(
  chunks: AsyncIterable<Uint8Array>,
  options: RowOptions,
  heard: Heard,
): AsyncGenerator<InputRow, void> {
  for await (const record of recordsOf(chunks, { findEnd: endOfLine, heard })) {
    yield rowOf(record, text => readLine(text, options))
  }
}

export const rowsOf = (
  chunks: AsyncIterable<Uint8Array>,
  options: RowOptions,
  heard: Heard,
): AsyncGenerator<InputRow, void> =>
  (options.format === 'csv' ? csvRows : jsonRows)(chunks, options, heard)
