/**
 * Lists of any length, one item after the other.
 * @module
 */
import { CofferError } from './error.ts'

interface Stretch<T> {
  readonly pagination?: { readonly next?: string }
  readonly data: readonly T[]
}

const noList = () => new CofferError('what answers gives no list', { code: 'not_coffer' })

/** @throws CofferError for what is none, whatever types say */
function listOf<T extends { readonly data: readonly unknown[] }>(answer: T): T {
  if (Array.isArray((answer as T | null)?.data)) return answer
  throw noList()
}

/**
 * Item by item; what is added or removed meanwhile moves nothing.
 * @param ask for the stretch that begins there; the first one at `''`
 */
export async function* walkStretches<T>(
  ask: (start: string) => Promise<Stretch<T>>,
): AsyncGenerator<T, void> {
  for (let start: string | undefined = ''; start !== undefined;) {
    const { pagination, data }: Stretch<T> = listOf(await ask(start))
    yield* data
    const next: unknown = pagination?.next
    // Else a walk would go round without end.
    if (next === start || (next !== undefined && typeof next !== 'string')) throw noList()
    start = next
  }
}

/** Item by item of what has pages alone; what is added meanwhile can make one come twice. */
export async function* walkPages<T>(
  ask: (page: number) => Promise<{ readonly data: readonly T[] }>,
): AsyncGenerator<T, void> {
  for (let page = 1; ; page += 1) {
    const { data } = listOf(await ask(page))
    if (data.length === 0) return
    yield* data
  }
}
