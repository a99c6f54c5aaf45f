import { describe, expect, test } from 'bun:test'
import { credentialCacheEntriesMax } from '../../../src/limits.ts'
import { cacheByGeneration, type Loaded } from '../../../src/records/generation-cache.ts'

const digestOf = (count: number): Uint8Array => {
  const digest = new Uint8Array(32)
  new DataView(digest.buffer).setUint32(0, count)
  return digest
}

const [one, two] = [digestOf(1), digestOf(2)]

/** A store with a generation that the test moves, and a loader that counts its calls. */
function setUp(loaded: Loaded<string> | undefined) {
  const state = { generation: 1, loads: 0, loaded }
  const find = cacheByGeneration({ generation: async () => state.generation }, async () => {
    state.loads += 1
    return state.loaded
  })
  return { state, find }
}

describe('a cache by generation', () => {
  test('loads what may be kept once for each digest', async () => {
    const { state, find } = setUp({ value: 'a', mayKeep: true })
    expect([await find(one), await find(one), await find(two)]).toEqual(['a', 'a', 'a'])
    expect(state.loads).toBe(2)
  })

  test('loads again once the generation moved', async () => {
    const { state, find } = setUp({ value: 'a', mayKeep: true })
    await find(one)
    state.loaded = { value: 'b', mayKeep: true }
    expect(await find(one)).toBe('a')
    state.generation = 2
    expect(await find(one)).toBe('b')
  })

  test('loads each time what may not be kept, and what is not there', async () => {
    for (const loaded of [{ value: 'a', mayKeep: false }, undefined]) {
      const { state, find } = setUp(loaded)
      expect([await find(one), await find(one)]).toEqual([loaded?.value, loaded?.value])
      expect(state.loads).toBe(2)
      state.loaded = { value: 'b', mayKeep: true }
      expect(await find(one)).toBe('b')
    }
  })

  test('does not carry what was read under one generation into the next', async () => {
    const read = Promise.withResolvers<Loaded<string>>()
    let generation = 1
    let loads = 0
    const find = cacheByGeneration({ generation: async () => generation }, async () => {
      loads += 1
      return loads === 1 ? read.promise : { value: 'new', mayKeep: true }
    })
    const slow = find(one)
    await Promise.resolve()
    generation = 2
    expect(await find(two)).toBe('new')
    read.resolve({ value: 'old', mayKeep: true })
    expect(await slow).toBe('old')
    expect(await find(one)).toBe('new')
  })

  test('starts anew when it is full', async () => {
    const { state, find } = setUp({ value: 'a', mayKeep: true })
    for (let count = 0; count < credentialCacheEntriesMax; count += 1) await find(digestOf(count))
    expect(state.loads).toBe(credentialCacheEntriesMax)
    await find(digestOf(credentialCacheEntriesMax))
    await find(digestOf(0))
    expect(state.loads).toBe(credentialCacheEntriesMax + 2)
  })
})
