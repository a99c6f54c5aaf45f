/**
 * Checkpoints of the audit log: what has landed is signed, over days, ends and restores.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { makeCheckpoints } from '../../src/audit/checkpoints.ts'
import {
  checkpointRange,
  frontierKey,
  newestCheckpointKey,
  readDerived,
} from '../../src/audit/derived-keys.ts'
import { emptyFrontier, encodeFrontier, growTree } from '../../src/audit/merkle-tree.ts'
import { type SigningPlace } from '../../src/audit/signing-keys.ts'
import { utf8, utf8Text } from '../../src/lib/bytes.ts'
import { present } from '../../src/lib/errors.ts'
import type { Change } from '../../src/store/contract.ts'
import { openTestVault } from '../support/vault.ts'
import { placeOf, partsOf, announcedBy, keysOf, expectSound, fill } from '../support/checkpoints.ts'

const dayMs = 24 * 60 * 60 * 1_000

describe('a checkpoint', () => {
  test('signs what has landed, and nothing twice', async () => {
    const vault = await openTestVault(73)
    const checkpoints = makeCheckpoints(partsOf(vault, placeOf()))
    await fill(vault, 5)
    expect((await checkpoints.next())?.size).toBe(5)
    await vault.deps.audit.flush()
    // That the log has begun is an entry too.
    expect((await checkpoints.next())?.size).toBe(6)
    expect(await checkpoints.next()).toBeUndefined()
    await fill(vault, 700)
    expect((await checkpoints.next())?.size).toBe(706)
    expect(await expectSound(vault, await keysOf(vault))).toMatchObject({ size: 706, by: 1 })
    await vault.deps.store.close()
  })

  test('is signed while entries land between its looks at the log', async () => {
    const vault = await openTestVault(74)
    const { store } = vault.deps
    const bundles: typeof store.bundles = async (range, limit) => {
      await fill(vault, 1)
      await fill(vault, 1)
      return store.bundles(range, limit)
    }
    const parts = { ...partsOf(vault, placeOf()), store: { ...store, bundles } }
    const checkpoints = makeCheckpoints(parts)
    await fill(vault, 5)
    expect((await checkpoints.next())?.size).toBe(5)
    const { next } = await store.logRange()
    expect(next).toBeGreaterThan(7)
    expect((await checkpoints.next())?.size).toBe(next)
    expect(await expectSound(vault, await keysOf(vault))).toMatchObject({ size: next, by: 1 })
    await store.close()
  })

  test('is signed by the keys of both days when the day changes', async () => {
    const vault = await openTestVault(74)
    const place = placeOf()
    const checkpoints = makeCheckpoints(partsOf(vault, place))
    await checkpoints.next()
    vault.clock.advance(dayMs)
    await checkpoints.next()
    const keys = await keysOf(vault)
    expect(keys).toHaveLength(2)
    expect(await expectSound(vault, keys)).toMatchObject({ by: 2 })
    await fill(vault, 1)
    await checkpoints.next()
    expect(await expectSound(vault, keys)).toMatchObject({ by: 1 })
    expect(await expectSound(vault, keys.slice(1))).toMatchObject({ by: 1 })
    await expect(expectSound(vault, keys.slice(0, 1))).rejects.toThrow('no_known_key')
    await vault.deps.store.close()
  })

  test('goes on after an end, under the same name', async () => {
    const vault = await openTestVault(75)
    const place = placeOf()
    const first = await makeCheckpoints(partsOf(vault, place)).next()
    await fill(vault, 300)
    const second = await makeCheckpoints(partsOf(vault, place)).next()
    expect(second?.origin).toBe(first?.origin ?? '')
    expect(await expectSound(vault, await keysOf(vault))).toMatchObject({ size: second?.size })
    await vault.deps.store.close()
  })

  test.each([
    ['before its announcement has landed', 1],
    ['after it', 3],
  ])('has a key that was announced, if the change of day ends %s', async (_, landed) => {
    const vault = await openTestVault(76)
    const place = placeOf()
    const parts = partsOf(vault, place)
    await makeCheckpoints(parts).next()
    vault.clock.advance(dayMs)
    let writes = 0
    const store = {
      ...vault.deps.store,
      write: async (...changes: Parameters<typeof vault.deps.store.write>) => {
        writes += 1
        if (landed === 1) throw new Error('power')
        return vault.deps.store.write(...changes)
      },
    }
    let puts = 0
    const cut: SigningPlace = {
      read: place.read,
      write(bytes) {
        puts += 1
        if (puts === 2) throw new Error('power')
        return place.write(bytes)
      },
    }
    await makeCheckpoints({ ...parts, store, place: cut })
      .next()
      .catch(() => {})
    expect(writes).toBe(landed)
    await fill(vault, 1)
    await makeCheckpoints(parts).next()
    const keys = await keysOf(vault)
    expect(keys).toHaveLength(2)
    await expectSound(vault, keys.slice(1))
    await vault.deps.store.close()
  })

  test('has another name where the keys are gone, as in a restored copy', async () => {
    const vault = await openTestVault(77)
    const before = await makeCheckpoints(partsOf(vault, placeOf())).next()
    const after = await makeCheckpoints(partsOf(vault, placeOf())).next()
    expect(after?.origin).not.toBe(before?.origin ?? '')
    const announced = await announcedBy(vault)
    expect(announced.map(({ signature }) => signature)).toEqual([undefined, undefined])
    const damaged: SigningPlace = { read: () => new Uint8Array(40), write: () => {} }
    const third = await makeCheckpoints(partsOf(vault, damaged)).next()
    expect(third?.origin).not.toBe(after?.origin ?? '')
    await vault.deps.store.close()
  })

  // proves S93
  test('is not made of hashes that others have put into the log', async () => {
    for (const exchanged of [false, true]) {
      const vault = await openTestVault(80)
      const checkpoints = makeCheckpoints(partsOf(vault, placeOf()))
      const before = await checkpoints.next()
      await fill(vault, 1)
      const [newest] = await vault.deps.store.bundles({ before: 100 }, 1)
      const { leaves: own, sealed } = present(newest, 'a bundle')
      const forged = { leaves: own.map(leaf => leaf.map(byte => byte ^ 1)), sealed }
      const added = exchanged ? forged : { leaves: forged.leaves, sealed: new Uint8Array(200) }
      await vault.deps.store.write([{ log: added }])
      await expect(checkpoints.next()).rejects.toMatchObject({ kind: 'storage_corrupt' })
      const stored = await readDerived(vault.deps.store, newestCheckpointKey)
      expect(utf8Text(stored ?? new Uint8Array())).toBe(before?.note ?? '')
      await vault.deps.store.close()
    }
  })

  const forgedFrontier = (size: number): Uint8Array => {
    const tree = growTree(emptyFrontier)
    for (let at = 0; at < size; at += 1) tree.append(new Uint8Array(32).fill(at))
    return encodeFrontier(tree.frontier())
  }

  // proves S93
  test('is under another name over a tree that others have put there', async () => {
    const changes: readonly Change[] = [
      { derived: newestCheckpointKey, value: undefined },
      { derived: newestCheckpointKey, value: utf8('other\n5\n\n— other AAAA\n') },
      { derived: frontierKey, value: forgedFrontier(5) },
      { derived: frontierKey, value: forgedFrontier(4) },
      { derived: frontierKey, value: undefined },
    ]
    for (const change of changes) {
      const vault = await openTestVault(81)
      const place = placeOf()
      await fill(vault, 5)
      const before = await makeCheckpoints(partsOf(vault, place)).next()
      expect(before?.size).toBe(5)
      await vault.deps.store.write([change])
      await fill(vault, 1)
      const after = await makeCheckpoints(partsOf(vault, place)).next()
      expect(after).toBeDefined()
      expect(after?.origin).not.toBe(before?.origin ?? '')
      await vault.deps.store.close()
    }
  })

  test.each([0, 1])(
    'keeps its name where another process signs meanwhile, after %i',
    async made => {
      const vault = await openTestVault(82)
      const place = placeOf()
      const other = makeCheckpoints(partsOf(vault, place))
      for (let number = 0; number < made; number += 1) await other.next()
      await fill(vault, 1)
      let signed: ReturnType<typeof other.next> | undefined
      const store = {
        ...vault.deps.store,
        derived: async (...range: Parameters<typeof vault.deps.store.derived>) => {
          const found = await vault.deps.store.derived(...range)
          if (Bun.deepEquals(range[0], frontierKey)) await (signed ??= other.next())
          return found
        },
      }
      const late = makeCheckpoints({ ...partsOf(vault, place), store })
      expect(await late.next()).toBeUndefined()
      expect((await late.next())?.origin).toBe((await signed)?.origin ?? '')
      await vault.deps.store.close()
    },
  )

  test('is kept once an hour; the newest always', async () => {
    const vault = await openTestVault(78)
    const checkpoints = makeCheckpoints(partsOf(vault, placeOf()))
    for (let count = 0; count < 10; count += 1) {
      await fill(vault, 1)
      await checkpoints.next()
      vault.clock.advance(20 * 60 * 1_000)
    }
    const kept = await vault.deps.store.derived(...checkpointRange, 100)
    expect(kept.length).toBeGreaterThanOrEqual(3)
    expect(kept.length).toBeLessThanOrEqual(5)
    await vault.deps.store.close()
  })

  test('says after a silence that nothing happened', async () => {
    const vault = await openTestVault(79)
    const checkpoints = makeCheckpoints(partsOf(vault, placeOf()))
    await checkpoints.next()
    await vault.deps.audit.flush()
    const { size = 0 } = (await checkpoints.next()) ?? {}
    vault.clock.advance(59_000)
    expect(await checkpoints.next()).toBeUndefined()
    vault.clock.advance(1_000)
    expect(await checkpoints.next()).toBeUndefined()
    await vault.deps.audit.flush()
    expect((await checkpoints.next())?.size).toBe(size + 1)
    await vault.deps.store.close()
  })
})
