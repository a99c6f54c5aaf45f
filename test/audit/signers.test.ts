/**
 * Checkpoints of the audit log that two processes sign by turns.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { makeCheckpoints } from '../../src/audit/checkpoints.ts'
import { frontierKey, readDerived } from '../../src/audit/derived-keys.ts'
import { decodeFrontier } from '../../src/audit/merkle-tree.ts'
import { chainFrom, readPublicLog } from '../../src/audit/public-log.ts'
import { bundlesFrom } from '../../src/audit/read-log.ts'
import { signingInStore } from '../../src/audit/signing-keys.ts'
import { verifyLog } from '../../src/audit/verify-log.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'
import { keysOf, expectSound, fill } from '../support/checkpoints.ts'

const dayMs = 24 * 60 * 60 * 1_000

/** Store of a process whose writes are held up until they are let go. */
function heldUp({ deps: { store } }: TestVault) {
  let gate = Promise.resolve()
  let isWaiting = false
  return {
    store: {
      ...store,
      async write(changes: Parameters<typeof store.write>[0]) {
        isWaiting = true
        await gate
        isWaiting = false
        return store.write(changes)
      },
    },
    isWaiting: () => isWaiting,
    hold() {
      const held = Promise.withResolvers<void>()
      gate = held.promise
      return held.resolve
    },
  }
}

async function verdictOf({ deps: { store } }: TestVault) {
  const log = await readPublicLog(store)
  const bundles = bundlesFrom(store, log.pruned.size)
  const from = { ...chainFrom(log, undefined), pruned: log.pruned, bundles, pinned: undefined }
  return verifyLog(from)
}

/** Two processes over one store, in which the keys are. */
async function openSigners(seed: number) {
  const vault = await openTestVault(seed)
  const { deps } = vault
  const held = heldUp(vault)
  const late = makeCheckpoints({ ...deps, store: held.store, place: signingInStore(held.store) })
  const other = makeCheckpoints({ ...deps, place: signingInStore(deps.store) })
  return { vault, held, late, other }
}

describe('two processes that sign by turns', () => {
  test('follow each other, also over the change of a day', async () => {
    const { vault, late, other } = await openSigners(90)
    await late.next()
    for (let day = 1; day < 5; day += 1) {
      vault.clock.advance(dayMs)
      for (const signer of day % 2 === 0 ? [late, other, late] : [other, late, other]) {
        await fill(vault, 3)
        await signer.next()
        await signer.next()
        expect((await verdictOf(vault)).fault).toBeUndefined()
      }
    }
    expect(await keysOf(vault)).toHaveLength(5)
    await vault.deps.store.close()
  })

  test.each([
    ['', 0],
    [' and has announced a key', dayMs],
  ])('lose nothing to a checkpoint that was held up%s', async (_, passedMs) => {
    const { vault, held, late, other } = await openSigners(91)
    await late.next()
    await fill(vault, 300)
    vault.clock.advance(passedMs)
    const letGo = held.hold()
    const stuck = late.next()
    while (!held.isWaiting()) await Bun.sleep(1)
    await fill(vault, 700)
    const signed = await other.next()
    letGo()
    await stuck
    const frontier = await readDerived(vault.deps.store, frontierKey)
    expect(decodeFrontier(frontier ?? new Uint8Array()).size).toBe(signed?.size ?? 0)
    for (const signer of [late, other, late]) {
      await fill(vault, 300)
      await signer.next()
      await signer.next()
      expect((await verdictOf(vault)).fault).toBeUndefined()
    }
    await expectSound(vault, await keysOf(vault))
    await vault.deps.store.close()
  })

  test('keep what both keys have signed as the day changed, if nothing came since', async () => {
    const { vault, late, other } = await openSigners(93)
    await late.next()
    vault.clock.advance(dayMs)
    const handover = await late.next()
    expect((await other.next())?.size).toBe(handover?.size ?? 0)
    expect((await verdictOf(vault)).fault).toBeUndefined()
    await fill(vault, 1)
    await other.next()
    expect((await verdictOf(vault)).fault).toBeUndefined()
    await vault.deps.store.close()
  })

  test('sign by the keys that the store has, once they left', async () => {
    const { vault, late, other } = await openSigners(92)
    await late.next()
    vault.clock.advance(dayMs)
    await other.next()
    late.leave()
    expect(late.signed()).toBe(0)
    await fill(vault, 1)
    expect((await late.next())?.size).toBe(late.signed())
    expect(await keysOf(vault)).toHaveLength(2)
    await vault.deps.store.close()
  })
})
