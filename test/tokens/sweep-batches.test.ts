import { describe, expect, test } from 'bun:test'
import { startServer } from '../../src/server/process/server.ts'
import { sweep } from '../../src/vault/sweep.ts'
import {
  sweepBatchRows,
  sweepLateBatchRows,
  sweepLateMs,
  sweepOverdueBatchRows,
  sweepOverdueMs,
} from '../../src/limits/work-limits.ts'
import type { Store } from '../../src/store/contract.ts'
import { openTestVault } from '../support/vault.ts'

const [small, large, largest] = [sweepBatchRows, sweepLateBatchRows, sweepOverdueBatchRows]
const dayMs = 24 * 60 * 60 * 1_000

/** Sweeps rows of these deadlines, days after the start. @returns the sizes that it asked for */
async function batchesOf(
  rows: readonly (readonly [count: number, days: number])[],
  { settled, elapsedMs }: { settled: (startMs: number) => number; elapsedMs: () => number },
): Promise<number[]> {
  const vault = await openTestVault(173)
  const key = await vault.application({ type: 'private', permissions: ['token:create'] })
  const startMs = vault.clock.now()
  const body = rows.flatMap(([count, days]) => {
    const expires_at = new Date(startMs + days * dayMs).toISOString()
    return Array.from({ length: count }, (_, n) => ({ type: 'token', data: n, expires_at }))
  })
  expect((await vault.ask('POST', '/tokenize', { key, body })).status).toBe(200)
  const { store } = vault.deps
  const limits: number[] = []
  const due = (nowMs: number, limit: number) => {
    limits.push(limit)
    return store.due(nowMs, limit)
  }
  const atMs = settled(startMs)
  const deps = { store: { ...store, due }, settled: () => atMs, elapsedMs }
  expect(await sweep(deps)).toBe(body.length)
  expect(await store.due(atMs, 1)).toEqual([])
  return limits
}

describe('a sweep takes small batches', () => {
  test('and larger ones the longer it has lasted', async () => {
    // Two of each: the first and the last moment of its time.
    const late = [sweepLateMs, sweepOverdueMs - 1]
    const instants = [0, 0, sweepLateMs - 1, ...late, sweepOverdueMs]
    const elapsedMs = () => instants.shift() ?? sweepOverdueMs
    const settled = (startMs: number) => startMs + dayMs
    const limits = await batchesOf([[600, 1]], { settled, elapsedMs })
    expect(limits).toEqual([small, small, large, large, largest, largest])
    expect(large).toBeGreaterThan(small)
    expect(largest).toBeGreaterThan(large)
  })

  test('and after one large ones, when the first of them shows that rows are late', async () => {
    const elapsedMs = () => 10 * dayMs
    const after = (ms: number) => (startMs: number) => startMs + dayMs + ms
    const batches = (ms: number) => batchesOf([[200, 1]], { settled: after(ms), elapsedMs })
    expect(new Set(await batches(sweepLateMs - 1))).toEqual(new Set([small]))
    expect(await batches(sweepLateMs)).toEqual([small, large, large, large, large])
    expect(await batches(sweepOverdueMs - 1)).toEqual([small, large, large, large, large])
    expect(await batches(sweepOverdueMs)).toEqual([small, largest])
  })

  test('and small ones again, when the late rows are gone', async () => {
    const elapsedMs = () => 10 * dayMs
    const settled = (startMs: number) => startMs + 2 * dayMs
    const rows = [
      [small + 1, 1],
      [2 * largest, 2],
    ] as const
    const limits = await batchesOf(rows, { settled, elapsedMs })
    expect(limits).toEqual([small, largest, largest, small])
  })

  test('where rows were due before the process began: that time does not count', async () => {
    const settled = (startMs: number) => startMs + 5 * dayMs
    const batches = (elapsed: number) =>
      batchesOf([[200, 1]], { settled, elapsedMs: () => elapsed })
    expect(new Set(await batches(sweepLateMs - 1))).toEqual(new Set([small]))
    expect(await batches(sweepLateMs)).toEqual([small, large, large, large, large])
    expect(await batches(sweepOverdueMs)).toEqual([small, largest])
  })
})

test('a row that cannot be removed keeps no other, and is told of at the end', async () => {
  const vault = await openTestVault(175)
  const key = await vault.application({ type: 'private', permissions: ['token:create'] })
  const expires_at = new Date(vault.clock.now() + dayMs).toISOString()
  const body = Array.from({ length: 3 * small }, () => ({ type: 'token', data: 1, expires_at }))
  expect((await vault.ask('POST', '/tokenize', { key, body })).status).toBe(200)
  const { store } = vault.deps
  const atMs = vault.clock.now() + dayMs
  const [first] = await store.due(atMs, 1)
  // It stands for a row whose index is damaged in a place that only writes look at.
  const write: Store['write'] = changes => {
    const isFirst = changes.some(each => 'remove' in each && each.remove === first?.ordinal)
    return isFirst ? Promise.reject(new Error('damaged')) : store.write(changes)
  }
  const deps = { store: { ...store, write }, settled: () => atMs, elapsedMs: () => 0 }
  expect(await sweep(deps).catch((error: unknown) => error)).toEqual(new Error('damaged'))
  expect(await store.due(atMs, 3 * small)).toEqual(first === undefined ? [] : [first])
})

describe('a sweep that fails', () => {
  const address = { host: '127.0.0.1', port: 0 } as const

  /** A server whose first sweep waits, and then meets a store that is closed. */
  async function startWithSlowSweep() {
    const vault = await openTestVault(174)
    const gate = Promise.withResolvers<void>()
    const swept = Promise.withResolvers<unknown>()
    const due = async (nowMs: number, limit: number) => {
      await gate.promise
      const found = vault.deps.store.due(nowMs, limit)
      found.then(swept.resolve, swept.resolve)
      return found
    }
    const store = { ...vault.deps.store, due }
    const server = await startServer({ ...vault.deps, store }, address)
    return { vault, server, gate, swept: swept.promise }
  }

  test('is logged', async () => {
    const { vault, server, gate, swept } = await startWithSlowSweep()
    await vault.deps.store.close()
    gate.resolve()
    expect(await swept).toBeInstanceOf(Error)
    await Bun.sleep(0)
    // The next one may have failed, too, by then.
    expect(new Set(vault.logged)).toEqual(new Set(['{"event":"sweep_failed"}']))
    await server.stop()
  })

  test('is not, when it was under way as the server stopped', async () => {
    const { vault, server, gate, swept } = await startWithSlowSweep()
    await server.stop()
    gate.resolve()
    expect(await swept).toBeInstanceOf(Error)
    await Bun.sleep(0)
    expect(vault.logged).toEqual([])
  })
})
