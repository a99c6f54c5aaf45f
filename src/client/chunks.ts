/**
 * A list of any length, sent in chunks that the vault takes.
 * @module
 */
import type { CallOptions } from './call.ts'
import { dated } from './instants.ts'
import type { TokenizedInPart } from './interface.ts'
import { bulkLeavesMax, chunkSizeDefault, idempotencyKeyBytes } from './limits.ts'
import { assertFunction, assertWhole } from './options.ts'
import { randomHex } from './platform.ts'

/** Progress of `tokenizeEach`, with the results of the last chunk. */
export interface Progress {
  /** Items of the list that were answered. */
  readonly done: number
  readonly total: number
  /** Its results; `index` and `path` count in the whole list. */
  readonly results: TokenizedInPart['results']
}

/** Options of `tokenizeEach`. */
export interface EachOptions extends CallOptions {
  /** Values of one request, 1 to 1,000; default: 500. */
  readonly chunkSize?: number
  /** Called after each chunk; if it throws, the call ends. */
  readonly onProgress?: (progress: Progress) => void
}

type Members = Readonly<Record<string, unknown>>
/** @internal */
type Send = (chunk: unknown, options: CallOptions) => Promise<TokenizedInPart>

const isFrame = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Date)

/** True for an object like a new token. The vault also checks its type. */
const isNewToken = (value: object): boolean => {
  const { type, data } = value as Members
  return typeof type === 'string' && data !== undefined
}

/** @internal Dates whole tokens in the answer to a tree, and nothing else. */
export function withDatesOf(tree: unknown, answer: unknown): unknown {
  if (!isFrame(tree) || !isFrame(answer)) return answer
  if (isNewToken(tree)) return dated(answer)
  for (const [name, value] of Object.entries(tree)) withDatesOf(value, (answer as Members)[name])
  return answer
}

/** Counts values as the vault does, at least one. */
function weigh(item: unknown): number {
  if (!isFrame(item) || isNewToken(item)) return 1
  return Math.max(
    1,
    Object.values(item).reduce((sum: number, value) => sum + weigh(value), 0),
  )
}

/** An item of more values than a chunk is a chunk of its own. */
function* chunksOf(items: readonly unknown[], size: number): Generator<readonly unknown[]> {
  let chunk: unknown[] = []
  let weight = 0
  for (const item of items) {
    const more = weigh(item)
    if (weight + more > size && chunk.length > 0) {
      yield chunk
      chunk = []
      weight = 0
    }
    chunk.push(item)
    weight += more
  }
  yield chunk
}

type Result = TokenizedInPart['results'][number]

/** `[2].data` of the chunk is `[502].data` of the list. */
const placeIn = (path: string, from: number): string =>
  path.replace(/^\[(\d+)\]/, (_, at: string) => `[${Number(at) + from}]`)

/**
 * @internal
 * @param send one chunk
 * @throws TypeError, and what `send` throws
 */
export async function tokenizeChunks(
  tree: unknown,
  { chunkSize, onProgress, ...options }: EachOptions,
  send: Send,
): Promise<TokenizedInPart> {
  assertWhole('chunkSize', chunkSize ?? 1, 1, bulkLeavesMax)
  assertFunction('onProgress', onProgress)
  const isList = Array.isArray(tree)
  if (!isList && chunkSize !== undefined)
    throw new TypeError('chunkSize: expected a list to divide')
  const base = options.idempotencyKey ?? randomHex(idempotencyKeyBytes)
  const chunks = isList ? [...chunksOf(tree, chunkSize ?? chunkSizeDefault)] : [tree]
  const results: Result[] = []
  const retry: unknown[] = []
  let done = 0
  for (const chunk of chunks) {
    const idempotencyKey = chunks.length === 1 ? base : `${base}-${done}`
    const answer = await send(chunk, { ...options, idempotencyKey })
    const from = results.length
    const told = answer.results.map(({ index, path, ...rest }) => ({
      index: index + from,
      path: placeIn(path, done),
      ...rest,
    }))
    results.push(...told)
    retry.push(...(answer.retry ?? []))
    done += Array.isArray(chunk) ? chunk.length : 1
    onProgress?.({ done, total: isList ? tree.length : 1, results: told })
  }
  return { results, ...(retry.length === 0 ? {} : { retry }) }
}
