import { expect, test } from 'bun:test'
import { sweep } from '../../src/expiry.ts'
import { sweepBatchRows, sweepGentleMs, sweepLateBatchRows } from '../../src/limits.ts'
import { openTestVault } from '../support/vault.ts'

test('a sweep takes small batches, and larger ones once it has lasted', async () => {
  const vault = await openTestVault(173)
  const key = await vault.application({ type: 'private', permissions: ['token:create'] })
  const body = Array.from({ length: 200 }, (_, n) => ({
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
  // The third batch is asked for when the sweep is late, and so are those after it.
  const instants = [0, 0, sweepGentleMs - 1, sweepGentleMs]
  const elapsedMs = () => instants.shift() ?? sweepGentleMs
  expect(await sweep({ ...vault.deps, store: { ...store, due }, elapsedMs })).toBe(200)
  const [small, large] = [sweepBatchRows, sweepLateBatchRows]
  expect(limits).toEqual([small, small, large, large, large, large])
  expect(large).toBeGreaterThan(small)
  expect(await store.due(vault.clock.now(), 1)).toEqual([])
})
