/**
 * Lists of any length, one item after the other.
 * @module
 */
import { CofferError } from './error.ts'
import { pageSizeMax } from './limits.ts'
import { assertWhole } from './options.ts'
import { isMembers } from './shapes.ts'
import type { WalkChoice } from './token.ts'

interface Stretch<T> {
  readonly pagination?: { readonly next?: string }
  readonly data: readonly T[]
}

const noList = () => new CofferError('the answer is no list', { code: 'not_coffer' })

/** @throws CofferError for an answer that is no list */
function listOf<T extends { readonly data: readonly unknown[] }>(answer: T): T {
  const data = (answer as T | undefined)?.data
  if (Array.isArray(data) && data.every(isMembers)) return answer
  throw noList()
}

/** @throws TypeError */
function boundsOf({ size = pageSizeMax, limit = Infinity }: WalkChoice) {
  assertWhole('size', size, 1, pageSizeMax)
  if (limit !== Infinity) assertWhole('limit', limit, 1)
  return { size: Math.min(size, limit), limit }
}

/**
 * Walks by stretches; items added or removed meanwhile move nothing. Only the last may be empty.
 * @param ask for the stretch that begins there; the first one at `''`
 */
export async function* stretches<T>(
  ask: (start: string) => Promise<Stretch<T>>,
): AsyncGenerator<readonly T[], void> {
  // A walk that goes round meets one that was kept, since those are kept ever further apart.
  let kept = ''
  let count = 0
  for (let start: string | undefined = ''; start !== undefined;) {
    const { pagination, data }: Stretch<T> = listOf(await ask(start))
    yield data
    const next: unknown = pagination?.next
    if (next !== undefined && (typeof next !== 'string' || data.length === 0)) throw noList()
    if (next === kept) throw noList()
    count += 1
    if (next !== undefined && (count & (count - 1)) === 0) kept = next
    start = next
  }
}

async function* pages<T>(
  ask: (page: number) => Promise<{ readonly data: readonly T[] }>,
): AsyncGenerator<readonly T[], void> {
  for (let page = 1; ; page += 1) {
    const { data } = listOf(await ask(page))
    if (data.length === 0) return
    yield data
  }
}

async function* upTo<T>(
  limit: number,
  parts: AsyncIterable<readonly T[]>,
): AsyncGenerator<T, void> {
  let left = limit
  for await (const items of parts) {
    for (const item of items) {
      yield item
      left -= 1
      if (left === 0) return
    }
  }
}

/** Yields items. @throws TypeError (the first step) for an invalid size or limit */
export async function* walkStretches<T>(
  choice: WalkChoice,
  ask: (start: string, size: number) => Promise<Stretch<T>>,
): AsyncGenerator<T, void> {
  const { size, limit } = boundsOf(choice)
  yield* upTo(
    limit,
    stretches(start => ask(start, size)),
  )
}

/** Yields items of pages; one that is added meanwhile can make one come twice. */
export async function* walkPages<T>(
  choice: WalkChoice,
  ask: (page: number, size: number) => Promise<{ readonly data: readonly T[] }>,
): AsyncGenerator<T, void> {
  const { size, limit } = boundsOf(choice)
  yield* upTo(
    limit,
    pages(page => ask(page, size)),
  )
}
