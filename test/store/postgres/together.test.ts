import { describe, expect, test } from 'bun:test'
import type { Change } from '../../../src/store/contract.ts'
import type { DatabaseAddress } from '../../../src/store/postgres/address.ts'
import type { PostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { startProxy } from '../../support/cutting-proxy.ts'
import { isPostgresThere, sharedPostgres, throughPort } from '../../support/postgres.ts'
import {
  bundleOf,
  expectFault,
  inserted,
  insertOf,
  ordinalsOf,
  replaceOf,
  termOf,
  uniqueOf,
  written,
} from '../rows.ts'
import { openAt } from './subject.ts'

type Pair = readonly [PostgresStore, PostgresStore]

const folding = { foldRows: 1, foldCheckMs: 3 }

async function openPair(): Promise<Pair> {
  const folder = temporaryFolder()
  return [await openAt(folder, folding), await openAt(folder, folding)]
}

const closeBoth = (pair: Pair) => Promise.all(pair.map(store => store.close()))

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(20)
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('two vaults over one database', () => {
  test('see at once what the other has written', async () => {
    const pair = await openPair()
    const [one, two] = pair
    const first = await inserted(one, { uniques: [1], terms: [7] })
    expect((await two.find(uniqueOf(1)))?.ordinal).toBe(first)
    const second = await inserted(two, { uniques: [2], terms: [7] })
    expect(second).toBeGreaterThan(first)
    expect(await ordinalsOf(one, { term: termOf(7) })).toEqual({
      ordinals: [second, first],
      total: 2,
    })
    const before = await one.generation()
    await written(two, { bumpGeneration: true })
    expect(await one.generation()).toBe(before + 1)
    await closeBoth(pair)
  })

  test('give a unique to one of those that race for it, and name its row to others', async () => {
    const pair = await openPair()
    const [one, two] = pair
    for (let i = 0; i < 30; i += 1) {
      const outcomes = await Promise.all([
        one.write([insertOf({ uniques: [i, 1_000 + i] })]),
        two.write([insertOf({ uniques: [i, 2_000 + i] })]),
      ])
      const won = outcomes.filter(({ ok }) => ok)
      const lost = outcomes.find(outcome => !outcome.ok)
      const holder = await one.find(uniqueOf(i))
      expect(won).toEqual([{ ok: true, ordinals: [holder?.ordinal ?? -1] }])
      expect(lost).toMatchObject({ reason: 'unique_taken', ordinal: holder?.ordinal ?? -1 })
    }
    expect(await one.integrity()).toEqual([])
    await closeBoth(pair)
  })

  test('let one of racing changes of a value beside the log win', async () => {
    const pair = await openPair()
    const [one, two] = pair
    const ordinal = await inserted(one, { uniques: [1] })
    const at = Uint8Array.of(1)
    const put = (store: PostgresStore, was: number, value: number, ...more: readonly Change[]) =>
      store.write([
        { requireDerived: at, ifValue: was === 0 ? undefined : Uint8Array.of(was) },
        { derived: at, value: Uint8Array.of(value) },
        ...more,
      ])
    for (let was = 0; was < 40; was += 2) {
      const replace = replaceOf(ordinal, { uniques: [1], version: was / 2 + 2 })
      const outcomes = await Promise.all([
        put(one, was, was + 2, { log: bundleOf(1) }),
        put(two, was, was + 2, { log: bundleOf(2) }),
        put(two, was, was + 2, { bumpGeneration: true }),
        written(one, replace),
      ])
      expect(outcomes.filter(outcome => 'ok' in outcome && outcome.ok)).toHaveLength(1)
    }
    expect(await one.integrity()).toEqual([])
    await closeBoth(pair)
  })

  test('let one of racing replaces of a version win, and none that rests on it', async () => {
    const pair = await openPair()
    const [one, two] = pair
    const ordinal = await inserted(one, { uniques: [1] })
    for (let version = 2; version < 30; version += 1) {
      const [a, b, resting] = await Promise.all([
        one.write([replaceOf(ordinal, { uniques: [1], terms: [version], version })]),
        two.write([replaceOf(ordinal, { uniques: [1], terms: [version + 100], version })]),
        two.write([{ require: ordinal, ifVersion: version + 1 }, insertOf({ uniques: [9] })]),
      ])
      expect([a?.ok, b?.ok].filter(Boolean)).toHaveLength(1)
      expect(resting?.ok).toBe(false)
    }
    expect((await two.find(uniqueOf(1)))?.version).toBe(29)
    expect(await two.integrity()).toEqual([])
    await closeBoth(pair)
  })

  test('show exact totals while both write, change, remove and fold', async () => {
    const pair = await openPair()
    const counts = [0, 0]
    const work = pair.map(async (store, at) => {
      for (let i = 0; i < 60; i += 1) {
        const unique = at * 1_000 + i
        const ordinal = await inserted(store, { uniques: [unique], terms: [at, 5] })
        counts[at] = (counts[at] ?? 0) + 1
        if (i % 3 === 0) {
          await written(store, replaceOf(ordinal, { uniques: [unique], terms: [5, 6], version: 2 }))
          counts[at] = (counts[at] ?? 0) - 1
        }
        if (i % 5 === 4) {
          await written(store, { remove: ordinal })
          if (i % 3 !== 0) counts[at] = (counts[at] ?? 0) - 1
        }
        for (const reader of pair) {
          expect((await ordinalsOf(reader, { term: termOf(at) })).total).toBe(counts[at] ?? -1)
        }
      }
    })
    await Promise.all(work)
    const [one] = pair
    await until(async () => (await one.figures()).waiting === 0)
    expect((await ordinalsOf(one, { term: termOf(5) })).total).toBe(96)
    expect(await one.integrity()).toEqual([])
    await closeBoth(pair)
  }, 300_000)

  test('sweep twice at once, and each row is removed once', async () => {
    const pair = await openPair()
    const [one, two] = pair
    const removed = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const ordinal = await inserted(one, { uniques: [i], terms: [3], deadlineMs: 5 })
        const sweeps = pair.map(store => store.write([{ remove: ordinal, ifVersion: 1 }]))
        return (await Promise.all(sweeps)).filter(({ ok }) => ok).length
      }),
    )
    expect(new Set(removed)).toEqual(new Set([1]))
    expect(await two.due(10, 100)).toEqual([])
    expect((await ordinalsOf(two, { term: termOf(3) })).total).toBe(0)
    expect(await one.integrity()).toEqual([])
    await closeBoth(pair)
  })

  test('have one sweeper, and another takes over from one that says nothing any more', async () => {
    const server = await sharedPostgres()
    const proxy = startProxy({ unix: server.socket })
    const folder = temporaryFolder()
    const bounds = { leaseMs: 5_000, leaseRenewMs: 200, readMs: 500, tryMs: 500, connectMs: 500 }
    const through = (address: DatabaseAddress) => throughPort(address, proxy.port)
    const silent = await openAt(folder, { bounds }, 1, through)
    await until(() => silent.isSweeper())
    const other = await openAt(folder, { bounds })
    await Bun.sleep(300)
    expect(other.isSweeper()).toBe(false)
    proxy.mute(true)
    await until(() => other.isSweeper())
    expect(silent.isSweeper()).toBe(false)
    proxy.mute(false)
    await Bun.sleep(300)
    expect([silent.isSweeper(), other.isSweeper()]).toEqual([false, true])
    await Promise.all([silent.close(), other.close()])
    proxy.stop()
  }, 300_000)

  test('have one sweeper, and the other takes over when it ends', async () => {
    const [one, two] = await openPair()
    await until(() => one.isSweeper() || two.isSweeper())
    expect([one.isSweeper(), two.isSweeper()].filter(Boolean)).toHaveLength(1)
    const [holder, other] = one.isSweeper() ? [one, two] : [two, one]
    await holder.close()
    await until(() => other.isSweeper())
    await other.close()
  }, 300_000)
})

describe.skipIf(!isPostgresThere)('a vault whose clock is an hour off', () => {
  test.each([3_600_000, -3_600_000])(
    'by %d ms refuses all until it is right',
    async offMs => {
      const folder = temporaryFolder()
      const right = await openAt(folder)
      await inserted(right, { uniques: [1], deadlineMs: Date.now() + 60_000 })
      let byMs = 0
      const told: boolean[] = []
      const store = await openAt(folder, {
        wallMs: () => Date.now() + byMs,
        bounds: { clockMs: 20 },
        onSkew: (_, isRight) => told.push(isRight),
      })
      byMs = offMs
      const isOfDatabase = (): boolean => Math.abs(store.clock.wallMs() - Date.now()) < 1_000
      // At once: no request may be answered by that clock, nor later by the time that it told.
      expect([store.clock.isRight(), isOfDatabase()]).toEqual([false, true])
      await until(() => told.length === 1)
      expect([store.clock.isRight(), isOfDatabase()]).toEqual([false, true])
      await expectFault(Promise.resolve(store.find(uniqueOf(1))), 'unavailable')
      await expectFault(store.write([insertOf({ uniques: [2] })]), 'unavailable')
      await expectFault(store.due(Date.now() + 7_200_000, 10), 'unavailable')
      expect(store.isSweeper()).toBe(false)
      expect((await right.find(uniqueOf(1)))?.version).toBe(1)
      byMs = 0
      await until(() => told.length === 2)
      expect(told).toEqual([false, true])
      expect([store.clock.isRight(), isOfDatabase()]).toEqual([true, true])
      expect((await store.find(uniqueOf(1)))?.version).toBe(1)
      await store.close()
      await right.close()
    },
    300_000,
  )
})
