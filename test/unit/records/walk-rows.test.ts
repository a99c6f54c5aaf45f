/**
 * Walks over rows: their steps, their turns and their end.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { ApiError } from '../../../src/lib/errors.ts'
import { walkedRowsMax } from '../../../src/limits/limits.ts'
import { walkRows } from '../../../src/records/walk-rows.ts'
import type { Row, Store, PageWindow } from '../../../src/store/contract.ts'

const pause = async () => undefined
const tooManyRows = () => new ApiError('invalid_request', 'too many')

const query = { term: new Uint8Array(16) }

/** Rows with the ordinals from `count` down to 1, and every window that was asked for. */
function storeOf(count: number): { store: Pick<Store, 'page'>; asked: PageWindow[] } {
  const asked: PageWindow[] = []
  const page: Store['page'] = async (_, window) => {
    asked.push(window)
    const { before = count + 1, limit } = window
    const length = Math.min(limit, before - 1)
    const rows = Array.from({ length }, (_row, at) => ({ ordinal: before - 1 - at }) as Row)
    return { rows, total: 0 }
  }
  return { store: { page }, asked }
}

async function ordinalsOf(rows: AsyncIterable<Row>): Promise<number[]> {
  const ordinals: number[] = []
  for await (const { ordinal } of rows) ordinals.push(ordinal)
  return ordinals
}

describe('a walk over rows', () => {
  test('meets each once, newest first, and asks for no totals', async () => {
    const { store, asked } = storeOf(5)
    const walk = { nowMs: 7, stepRows: 2, pause, tooManyRows }
    expect(await ordinalsOf(walkRows(store, query, walk))).toEqual([5, 4, 3, 2, 1])
    const window = { offset: 0, limit: 2, nowMs: 7, uncounted: true } as const
    expect(asked).toEqual([window, { ...window, before: 4 }, { ...window, before: 2 }])
  })

  test('begins below an ordinal, and reads no further than is asked', async () => {
    const { store, asked } = storeOf(100)
    const seen: number[] = []
    for await (const { ordinal } of walkRows(store, query, {
      before: 50,
      nowMs: 7,
      stepRows: 2,
      pause,
      tooManyRows,
    })) {
      seen.push(ordinal)
      if (seen.length === 3) break
    }
    expect(seen).toEqual([49, 48, 47])
    expect(asked.length).toBe(2)
  })

  test('asks after each row, not after each step, whether others have their turn', async () => {
    let met = 0
    const pauses: number[] = []
    const counting = async () => void pauses.push(met)
    const walk = { nowMs: 7, stepRows: 100, pause: counting, tooManyRows }
    for await (const _ of walkRows(storeOf(5).store, query, walk)) met += 1
    expect(pauses).toEqual([1, 2, 3, 4, 5])
  })

  test('is refused when it would be too long, and not one row before', async () => {
    const walk = { nowMs: 7, stepRows: 1_000, pause, tooManyRows }
    const length = async (count: number) =>
      (await ordinalsOf(walkRows(storeOf(count).store, query, walk))).length
    expect(await length(walkedRowsMax - 1)).toBe(walkedRowsMax - 1)
    await expect(length(walkedRowsMax + 1)).rejects.toThrow('too many')
  })

  // proves E30.2
  test('is refused when all walks of a request together would be too long', async () => {
    const rowsTested = { count: 0 }
    const walk = { nowMs: 7, stepRows: 1_000, pause, tooManyRows, rowsTested }
    const { store } = storeOf(walkedRowsMax / 2 - 1)
    for (const _ of ['first', 'second']) await ordinalsOf(walkRows(store, query, walk))
    const third = ordinalsOf(walkRows(store, query, walk))
    await expect(third).rejects.toThrow('too many')
  })
})
