import { describe, expect, test } from 'bun:test'
import {
  credentialCacheBytesMax,
  credentialCacheEntriesMax,
  credentialCacheMsMax,
} from '../../../src/limits/work-limits.ts'
import { cacheByGeneration } from '../../../src/http/credential-cache.ts'
import type { Loaded } from '../../../src/rules/caller.ts'

const keyOf = (count: number): string => `key_${String(count).padStart(22, '0')}`

const [one, two] = [keyOf(1), keyOf(2)]

/** A store and a clock that the test moves, and a loader that counts its calls. */
function setUp(loaded: Loaded<string> | undefined) {
  const state = { generation: 1, nowMs: 10, loads: 0, loaded }
  const deps = { store: { generation: async () => state.generation }, now: () => state.nowMs }
  const find = cacheByGeneration(deps, async () => {
    state.loads += 1
    return state.loaded
  })
  return { state, find }
}

describe('a cache by generation', () => {
  test('loads what may be kept once for each key', async () => {
    const { state, find } = setUp({ value: 'a', keepUntilMs: undefined })
    expect([await find(one), await find(one), await find(two)]).toEqual(['a', 'a', 'a'])
    expect(state.loads).toBe(2)
  })

  test('loads again once the generation moved', async () => {
    const { state, find } = setUp({ value: 'a', keepUntilMs: undefined })
    await find(one)
    state.loaded = { value: 'b', keepUntilMs: undefined }
    expect(await find(one)).toBe('a')
    state.generation = 2
    expect(await find(one)).toBe('b')
  })

  test('loads each time what may not be kept, and what is not there', async () => {
    for (const loaded of [{ value: 'a', keepUntilMs: 0 }, undefined]) {
      const { state, find } = setUp(loaded)
      expect([await find(one), await find(one)]).toEqual([loaded?.value, loaded?.value])
      expect(state.loads).toBe(2)
      state.loaded = { value: 'b', keepUntilMs: undefined }
      expect(await find(one)).toBe('b')
    }
  })

  test('loads again from the instant on until which it may be kept', async () => {
    const { state, find } = setUp({ value: 'a', keepUntilMs: 12 })
    await find(one)
    state.loaded = undefined
    state.nowMs = 11
    expect(await find(one)).toBe('a')
    state.nowMs = 12
    expect(await find(one)).toBeUndefined()
    expect(state.loads).toBe(2)
  })

  test('loads again after a while, should somebody hold the generation still', async () => {
    for (const keepUntilMs of [undefined, 10 * credentialCacheMsMax]) {
      const { state, find } = setUp({ value: 'a', keepUntilMs })
      await find(one)
      state.loaded = undefined
      state.nowMs += credentialCacheMsMax - 1
      expect(await find(one)).toBe('a')
      state.nowMs += 1
      expect(await find(one)).toBeUndefined()
    }
  })

  test('does not carry what was read under one generation into the next', async () => {
    const read = Promise.withResolvers<Loaded<string>>()
    let generation = 1
    let loads = 0
    const deps = { store: { generation: async () => generation }, now: () => 0 }
    const find = cacheByGeneration(deps, async () => {
      loads += 1
      return loads === 1 ? read.promise : { value: 'new', keepUntilMs: undefined }
    })
    const slow = find(one)
    await Promise.resolve()
    generation = 2
    expect(await find(two)).toBe('new')
    read.resolve({ value: 'old', keepUntilMs: undefined })
    expect(await slow).toBe('old')
    expect(await find(one)).toBe('new')
  })

  test('takes no key for another, however much of them is the same', async () => {
    const keys = [one, `key_2${one.slice(5)}`, one.slice(1), `1${one}`]
    const deps = { store: { generation: async () => 1 }, now: () => 0 }
    const find = cacheByGeneration(deps, async key => ({ value: key, keepUntilMs: undefined }))
    for (const key of [...keys, ...keys]) expect(await find(key)).toBe(key)
  })

  test('starts anew when it is full', async () => {
    const { state, find } = setUp({ value: 'a', keepUntilMs: undefined })
    for (let count = 0; count < credentialCacheEntriesMax; count += 1) await find(keyOf(count))
    expect(state.loads).toBe(credentialCacheEntriesMax)
    await find(keyOf(credentialCacheEntriesMax))
    await find(keyOf(0))
    expect(state.loads).toBe(credentialCacheEntriesMax + 2)
  })

  // proves E10.30
  test('starts anew when what it keeps is large', async () => {
    const bytes = credentialCacheBytesMax / 4
    const { state, find } = setUp({ value: 'a', keepUntilMs: undefined, bytes })
    for (let count = 0; count < 4; count += 1) await find(keyOf(count))
    expect(state.loads).toBe(4)
    await find(keyOf(4))
    await find(keyOf(0))
    expect(state.loads).toBe(6)
  })

  test('counts a key once, however often it is read anew', async () => {
    const bytes = credentialCacheBytesMax / 4
    const { state, find } = setUp({ value: 'a', keepUntilMs: undefined, bytes })
    await find(two)
    for (let count = 0; count < 9; count += 1) await find(one, true)
    expect(state.loads).toBe(10)
    await find(two)
    expect(state.loads).toBe(10)
  })
})
