/**
 * Walks over rows: their steps, their turns and their end.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { walkedRowsMax } from '../../../src/limits.ts'
import { walkRows } from '../../../src/records/walk-rows.ts'
import type { Row, Store, Window } from '../../../src/store/contract.ts'

const query = { term: new Uint8Array(16) }

/** Rows with the ordinals from `count` down to 1, and every window that was asked for. */
function storeOf(count: number): { store: Pick<Store, 'page'>; asked: Window[] } {
  const asked: Window[] = []
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
    const walk = { nowMs: 7, stepRows: 2 }
    expect(await ordinalsOf(walkRows(store, query, walk))).toEqual([5, 4, 3, 2, 1])
    const window = { offset: 0, limit: 2, nowMs: 7, uncounted: true } as const
    expect(asked).toEqual([window, { ...window, before: 4 }, { ...window, before: 2 }])
  })

  test('begins below an ordinal, and reads no further than is asked', async () => {
    const { store, asked } = storeOf(100)
    const seen: number[] = []
    for await (const { ordinal } of walkRows(store, query, { before: 50, nowMs: 7, stepRows: 2 })) {
      seen.push(ordinal)
      if (seen.length === 3) break
    }
    expect(seen).toEqual([49, 48, 47])
    expect(asked.length).toBe(2)
  })

  test('lets others have their turn between its steps', async () => {
    let turns = 0
    let next = setImmediate(function again() {
      turns += 1
      next = setImmediate(again)
    })
    await ordinalsOf(walkRows(storeOf(40).store, query, { nowMs: 7, stepRows: 2 }))
    clearImmediate(next)
    expect(turns).toBeGreaterThanOrEqual(19)
  })

  test('is refused when it would be too long, and not one row before', async () => {
    const walk = { nowMs: 7, stepRows: 1_000 }
    const length = async (count: number) =>
      (await ordinalsOf(walkRows(storeOf(count).store, query, walk))).length
    expect(await length(walkedRowsMax - 1)).toBe(walkedRowsMax - 1)
    await expect(length(walkedRowsMax + 1)).rejects.toMatchObject({ kind: 'invalid_request' })
  })
})
