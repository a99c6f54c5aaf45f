/**
 * The file of `--config`: a JSON object of settings, with the line of each member.
 *
 * Pure: the bytes are handed in. A refusal names the file and a line, and repeats no value.
 * @module
 */
import { ApiError, expectedBy } from '../lib/errors.ts'
import { isJsonObject, toPlain, type Json } from '../lib/json/json.ts'
import { decodeUtf8, parseJson } from '../lib/json/parse-json.ts'

export interface ConfigFile {
  readonly path: string
  readonly bytes: Uint8Array
}

export interface FileMembers {
  /** By snake_case name. */
  readonly values: Readonly<Record<string, unknown>>
  /** Returns the position of a member, as `/etc/coffer.json:3`. */
  readonly placeOf: (name: string) => string
}

/** The members of a missing file. */
export const noMembers: FileMembers = { values: {}, placeOf: () => '' }

const refuse = (message: string): ApiError => new ApiError('invalid_request', message)

/** Shows a name only if it cannot be a misplaced key or value. */
export const showName = (name: string): string =>
  /^[A-Za-z_]{1,60}$/.test(name) ? name : 'a name that is not shown'

/** Counted from 1. */
const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

/** Returns the line of each member of an object. @param text JSON that was parsed */
function linesOf(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>()
  let [depth, line] = [0, 1]
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[{}[\]\n]/g)) {
    if (depth === 1 && token.endsWith(':')) {
      lines.set(JSON.parse(token.replace(/\s*:$/, '')) as string, line)
    }
    if ('{['.includes(token)) depth += 1
    if (']}'.includes(token)) depth -= 1
    line += token.split('\n').length - 1
  }
  return lines
}

function parse(text: string, path: string): Json {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const index = /at character (\d+)/.exec(error.message)?.[1]
    const place = index === undefined ? path : `${path}:${lineAt(text, Number(index))}`
    throw refuse(`${place}: ${expectedBy(error)}`)
  }
}

function decode({ path, bytes }: ConfigFile): string {
  try {
    return decodeUtf8(bytes)
  } catch (error) {
    throw error instanceof ApiError ? refuse(`${path}: ${expectedBy(error)}`) : error
  }
}

/** @throws ApiError unless it is a JSON object of known members */
export function readMembers(file: ConfigFile, known: ReadonlySet<string>): FileMembers {
  const { path } = file
  const text = decode(file)
  const json = parse(text, path)
  if (!isJsonObject(json)) throw refuse(`${path}: expected a JSON object`)
  const lines = linesOf(text)
  const placeOf = (name: string): string => `${path}:${lines.get(name) ?? 1}`
  for (const name of json.keys()) {
    if (!known.has(name)) throw refuse(`${placeOf(name)}: ${showName(name)} is no setting`)
  }
  return { values: toPlain(json) as Record<string, unknown>, placeOf }
}
