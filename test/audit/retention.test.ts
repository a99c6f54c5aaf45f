/**
 * Retention of the audit log: what is old goes, and every proof of what is left stands.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { sealBundle } from '../../src/audit/bundle.ts'
import { makeCheckpoints } from '../../src/audit/checkpoints.ts'
import { prunedFrontierKey, readDerived } from '../../src/audit/derived-keys.ts'
import {
  decodeFrontier,
  emptyFrontier,
  encodeFrontier,
  growTree,
} from '../../src/audit/merkle-tree.ts'
import { isPruneLogged } from '../../src/audit/prune-point.ts'
import { chainFrom, readPublicLog } from '../../src/audit/public-log.ts'
import { newestCheckpoint } from '../../src/audit/prove.ts'
import { bundlesFrom } from '../../src/audit/read-log.ts'
import { makePruner } from '../../src/audit/retention.ts'
import { pruneBundlesMax } from '../../src/limits/work-limits.ts'
import type { SigningPlace } from '../../src/audit/signing-keys.ts'
import { verifyLog, type LogToVerify } from '../../src/audit/verify-log.ts'
import { entriesOf } from '../support/audit-log.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const dayMs = 24 * 60 * 60 * 1_000

function placeOf(): SigningPlace {
  let kept: Uint8Array | undefined
  return {
    read: () => kept,
    write(bytes) {
      kept = bytes
    },
  }
}

async function fill({ deps, clock }: TestVault, entries: number): Promise<void> {
  const entry = { atMs: clock.now(), operation: 'test', entityIds: [], result: 200 }
  await Promise.all(Array.from({ length: entries }, () => deps.audit.record(entry)))
}

async function verdictOf({ deps }: TestVault, pinned?: LogToVerify['pinned']) {
  const { store } = deps
  const log = await readPublicLog(store)
  const bundles = bundlesFrom(store, log.pruned.size)
  return verifyLog({ ...chainFrom(log, undefined), pruned: log.pruned, bundles, pinned })
}

describe('retention', () => {
  test('removes what is older than its days, and nothing that is not signed', async () => {
    const vault = await openTestVault(80)
    const { deps, clock } = vault
    const checkpoints = makeCheckpoints({ ...deps, place: placeOf() })
    const pruner = makePruner({ ...deps, keptDays: 30 })
    const prune = () => pruner(checkpoints.signed(), false)
    await fill(vault, 700)
    clock.advance(31 * dayMs)
    expect(await prune()).toBe(0)
    await checkpoints.next()
    const { note: pinned } = await newestCheckpoint(deps.store)
    await fill(vault, 5)
    await checkpoints.next()
    await checkpoints.next()
    expect(await prune()).toBe(700)
    expect(await prune()).toBe(0)
    expect((await deps.store.logRange()).from).toBe(700)
    await checkpoints.next()
    const verdict = await verdictOf(vault, { note: pinned })
    expect(verdict.fault).toBeUndefined()
    const entries = await entriesOf(vault)
    expect(entries[0]?.sequence).toBe(700)
    const pruned = entries.filter(({ entry }) => entry.operation === 'auditLogPruned')
    expect(pruned.map(({ entry }) => entry.entityIds)).toEqual([['700']])
    await deps.store.close()
  })

  test('removes the oldest while the log is too large, whatever their age', async () => {
    const vault = await openTestVault(81)
    const { deps } = vault
    const checkpoints = makeCheckpoints({ ...deps, place: placeOf() })
    await fill(vault, 50)
    await checkpoints.next()
    const signed = checkpoints.signed()
    const prune = makePruner({ ...deps, keptDays: 400 })
    expect(await prune(signed, false)).toBe(0)
    expect(await prune(signed, true)).toBe(signed)
    expect((await verdictOf(vault)).fault).toBeUndefined()
    await deps.store.close()
  })

  test('removes few long entries at a time, so that it ends when the log is short', async () => {
    const { deps } = await openTestVault(82)
    const checkpoints = makeCheckpoints({ ...deps, place: placeOf() })
    const entityIds = Array.from({ length: 1_000 }, (_, i) => `t-${i}`.padEnd(400, 'x'))
    for (let i = 0; i < 30; i += 1) {
      const entry = { atMs: deps.now(), operation: 'detokenize', entityIds, result: 200 }
      await deps.store.write([deps.audit.changeOf(entry)])
    }
    await checkpoints.next()
    const signed = checkpoints.signed()
    const removed = await makePruner({ ...deps, keptDays: 400 })(signed, true)
    expect(removed).toBeGreaterThan(0)
    expect(removed).toBeLessThan(10)
    await deps.store.close()
  })

  test('looks for what it pruned last once, and lets others in after each bundle', async () => {
    const vault = await openTestVault(85)
    const { deps } = vault
    const checkpoints = makeCheckpoints({ ...deps, place: placeOf() })
    let turns = 0
    let looks = 0
    let turnsOfLook = 0
    const store: typeof deps.store = {
      ...deps.store,
      bundles(range, count) {
        if ('before' in range) looks += 1
        turns = 0
        return deps.store.bundles(range, count)
      },
      write(changes) {
        turnsOfLook = turns
        return deps.store.write(changes)
      },
    }
    const parts = { ...deps, store, keptDays: 400 }
    const log = async () => {
      for (let i = 0; i < 50; i += 1) await fill(vault, 1)
      await checkpoints.next()
    }
    const first = makePruner(parts)
    for (let step = 0; step < 2; step += 1) {
      await log()
      expect(await first(checkpoints.signed(), true)).toBeGreaterThan(0)
    }
    expect(looks).toBe(0)
    await log()
    const second = makePruner(parts)
    const count = () => {
      turns += 1
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    expect(await second(checkpoints.signed(), true)).toBeGreaterThan(0)
    clearImmediate(timer)
    expect(looks).toBe(1)
    expect(turnsOfLook).toBeGreaterThan(40)
    await log()
    expect(await second(checkpoints.signed(), true)).toBeGreaterThan(0)
    expect(looks).toBe(1)
    await deps.store.close()
  })

  // proves S93
  test.each([
    ['the range', 'logRange', 1],
    ['the bundles', 'bundles', 1],
    ['the range that is compared', 'logRange', 2],
    ['the tree that is compared', 'derived', 1],
    ['the entry', 'bundles', 2],
    ['the tree that grows', 'derived', 2],
  ] as const)(
    'leaves it to another process that prunes before it reads %s',
    async (_, read, at) => {
      const vault = await openTestVault(85)
      const { deps } = vault
      const checkpoints = makeCheckpoints({ ...deps, place: placeOf() })
      const log = async () => {
        for (let i = 0; i < 5; i += 1) await fill(vault, 1)
        await checkpoints.next()
      }
      const other = makePruner({ ...deps, keptDays: 400 })
      const pruneThere = () => other(checkpoints.signed(), true)
      await log()
      expect(await pruneThere()).toBeGreaterThan(0)
      await log()
      let reads = 0
      const meanwhile = async (name: typeof read) => {
        if (name !== read) return
        reads += 1
        if (reads === at) expect(await pruneThere()).toBeGreaterThan(0)
      }
      const store: typeof deps.store = {
        ...deps.store,
        logRange: async () => meanwhile('logRange').then(() => deps.store.logRange()),
        bundles: async (range, count) =>
          meanwhile('bundles').then(() => deps.store.bundles(range, count)),
        derived: async (...asked) => meanwhile('derived').then(() => deps.store.derived(...asked)),
      }
      const prune = makePruner({ ...deps, store, keptDays: 400 })
      expect(await prune(checkpoints.signed(), true)).toBe(0)
      expect(reads).toBeGreaterThanOrEqual(at)
      expect(await isPruneLogged(deps)).toBe(true)
      expect((await verdictOf(vault)).fault).toBeUndefined()
      await log()
      expect(await prune(checkpoints.signed(), true)).toBeGreaterThan(0)
      await deps.store.close()
    },
  )

  // proves S93
  test('tells what the vault has pruned from what others have cut off', async () => {
    const vault = await openTestVault(84)
    const { deps } = vault
    const { store } = deps
    const checkpoints = makeCheckpoints({ ...deps, place: placeOf() })
    const pruner = makePruner({ ...deps, keptDays: 400 })
    const prune = () => pruner(checkpoints.signed(), true)
    /** Anybody who writes to the store can do so: the hashes of entries are in the clear. */
    const cutOff = async (entries: number): Promise<void> => {
      const pruned = await readDerived(store, prunedFrontierKey)
      const tree = growTree(pruned === undefined ? emptyFrontier : decodeFrontier(pruned))
      const { from } = await store.logRange()
      const bundles = await store.bundles({ from }, entries)
      for (const leaf of bundles.flatMap(({ leaves }) => leaves)) tree.append(leaf)
      const value = encodeFrontier(tree.frontier())
      await store.write([{ derived: prunedFrontierKey, value }, { pruneLog: tree.size() }])
    }
    const log = async (entries: number) => {
      for (let i = 0; i < entries; i += 1) await fill(vault, 1)
      await checkpoints.next()
    }
    await log(5)
    expect(await isPruneLogged(deps)).toBe(true)
    expect(await prune()).toBeGreaterThan(0)
    await log(5)
    expect(await prune()).toBeGreaterThan(0)
    expect(await isPruneLogged(deps)).toBe(true)
    await log(5)
    for (const entries of [1, 100]) {
      await cutOff(entries)
      expect((await verdictOf(vault)).fault).toBeUndefined()
      expect(await isPruneLogged(deps)).toBe(false)
      await log(5)
      await expect(prune()).rejects.toThrow('an oldest entry')
    }
    await store.close()
  })

  test.each(['bundles', 'derived', 'write'] as const)(
    'keeps the tree whole while another process removes entries behind its %s',
    async name => {
      const vault = await openTestVault(83)
      const { deps } = vault
      const checkpoints = makeCheckpoints({ ...deps, place: placeOf() })
      const entry = { atMs: deps.now(), operation: 'test', entityIds: [], result: 200 }
      const bundle = () => ({ log: sealBundle(deps.keys, deps.randomBytes, [entry]) })
      for (let step = 0; step < 4; step += 1) {
        await deps.store.write(Array.from({ length: pruneBundlesMax }, bundle))
        await checkpoints.next()
      }
      const prune = (store = deps.store) =>
        makePruner({ ...deps, store, keptDays: 400 })(checkpoints.signed(), true)
      const pruneTwice = async () => [await prune(), await prune()]
      const other: number[] = []
      const store = {
        ...deps.store,
        async [name](...words: unknown[]): Promise<unknown> {
          const isFirst = other.length === 0
          if (isFirst && name === 'write') other.push(...(await pruneTwice()))
          const value: unknown = await Reflect.apply(deps.store[name], deps.store, words)
          if (isFirst && name !== 'write') other.push(...(await pruneTwice()))
          return value
        },
      } as typeof deps.store
      await prune(store).catch(() => 0)
      expect(other).toEqual([pruneBundlesMax, pruneBundlesMax])
      expect((await deps.store.logRange()).from).toBe(2 * pruneBundlesMax)
      expect((await verdictOf(vault)).fault).toBeUndefined()
      expect(await prune()).toBe(pruneBundlesMax)
      expect((await verdictOf(vault)).fault).toBeUndefined()
      await deps.store.close()
    },
  )
})
