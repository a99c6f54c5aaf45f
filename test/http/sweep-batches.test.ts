import { describe, expect, test } from 'bun:test'
import { startServer } from '../../src/cli/server.ts'
import { sweep } from '../../src/expiry.ts'
import {
  sweepBatchRows,
  sweepLateBatchRows,
  sweepLateMs,
  sweepOverdueBatchRows,
  sweepOverdueMs,
} from '../../src/limits.ts'
import { openTestVault } from '../support/vault.ts'

test('a sweep takes small batches, and larger ones the longer it has lasted', async () => {
  const vault = await openTestVault(173)
  const key = await vault.application({ type: 'private', permissions: ['token:create'] })
  const body = Array.from({ length: 600 }, (_, n) => ({
    type: 'token',
    data: n,
    expires_at: '1/2/2030',
  }))
  expect((await vault.ask('POST', '/tokenize', { key, body })).status).toBe(200)
  vault.clock.advance(24 * 60 * 60 * 1_000)
  const { store } = vault.deps
  const limits: number[] = []
  const due = (nowMs: number, limit: number) => {
    limits.push(limit)
    return store.due(nowMs, limit)
  }
  // Two of each: the first and the last moment of its time.
  const late = [sweepLateMs, sweepOverdueMs - 1]
  const instants = [0, 0, sweepLateMs - 1, ...late, sweepOverdueMs]
  const elapsedMs = () => instants.shift() ?? sweepOverdueMs
  expect(await sweep({ ...vault.deps, store: { ...store, due }, elapsedMs })).toBe(600)
  const [small, large, largest] = [sweepBatchRows, sweepLateBatchRows, sweepOverdueBatchRows]
  expect(limits).toEqual([small, small, large, large, largest, largest])
  expect(large).toBeGreaterThan(small)
  expect(largest).toBeGreaterThan(large)
  expect(await store.due(vault.clock.now(), 1)).toEqual([])
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
