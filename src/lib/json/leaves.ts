/**
 * Splits any JSON into a frame and its leaves, and prints the frame with other leaves.
 *
 * Every scalar is a leaf; the caller decides which objects are. Places are written by positions
 * alone (`[3][0]`, also for members), because member names are the sender's text.
 * @module
 */
import { invalid } from '../errors.ts'
import { bulkFramesMax } from '../../limits/limits.ts'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from './json.ts'

/** Returns true if an object is a leaf as a whole. */
export type IsLeaf = (value: JsonObject) => boolean

export interface Leaf {
  /** Empty for a leaf that is the whole value. */
  readonly at: string
  readonly value: Json
}

const isFrame = (value: Json, isLeaf: IsLeaf): value is readonly Json[] | JsonObject =>
  isJsonArray(value) || (isJsonObject(value) && !isLeaf(value))

interface Collection {
  readonly leaves: Leaf[]
  frames: number
}

const collect = (value: Json, at: string, isLeaf: IsLeaf, most: number, into: Collection): void => {
  if (!isFrame(value, isLeaf)) {
    if (into.leaves.length === most) throw invalid('body', `expected at most ${most} values`)
    into.leaves.push({ at, value })
    return
  }
  into.frames += 1
  if (into.frames > bulkFramesMax) {
    throw invalid('body', `expected at most ${bulkFramesMax} arrays and objects around values`)
  }
  let index = 0
  for (const child of value.values()) {
    collect(child, `${at}[${index}]`, isLeaf, most, into)
    index += 1
  }
}

/**
 * @returns the leaves in their order
 * @throws ApiError `invalid_request` at `body` when there are more than `most`, or too many frames,
 *   which would be work without being values
 */
export const listLeaves = (value: Json, isLeaf: IsLeaf, most: number): readonly Leaf[] => {
  const into: Collection = { leaves: [], frames: 0 }
  collect(value, '', isLeaf, most, into)
  return into.leaves
}

/**
 * Returns the JSON text of the frame with other leaves.
 * @param texts  JSON texts, one for each leaf, in the order of `listLeaves`
 */
export const printFrame = (value: Json, isLeaf: IsLeaf, texts: readonly string[]): string => {
  let next = 0
  const print = (part: Json): string => {
    if (!isFrame(part, isLeaf)) {
      next += 1
      return texts[next - 1] ?? 'null'
    }
    if (isJsonArray(part)) return `[${part.map(print).join(',')}]`
    const members = Array.from(part, ([name, member]) => `${JSON.stringify(name)}:${print(member)}`)
    return `{${members.join(',')}}`
  }
  return print(value)
}

/** Returns the path of a fault in a leaf: `data.number` below `[3]` is `[3].data.number`. */
export const pathBelow = (at: string, path: string): string => {
  if (at === '' || path === '') return at + path
  return path.startsWith('[') ? at + path : `${at}.${path}`
}
