/**
 * Operations on keys that come while others are under way.
 * @module
 */
import { theOperator } from '../../src/vault/operator/operator-operation.ts'
import { expect, test } from 'bun:test'
import { setImmediate } from 'node:timers/promises'
import { keyOperations, makeResealer } from '../../src/vault/operator/key-operations.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { dataKeysMax } from '../../src/limits/operation-limits.ts'
import { rotate } from '../../src/vault/keyring/rotation.ts'
import { countByKey } from '../../src/vault/keyring/reseal.ts'
import { openVault } from './vault.ts'

test('a key that is made at the end of a walk is taken over by all rows as well', async () => {
  let atEnd = async () => {}
  const vault = await openVault(store => ({
    ...store,
    async rowsFrom(from, limit) {
      const rows = await store.rowsFrom(from, limit)
      if (rows.length === 0) await atEnd()
      return rows
    },
  }))
  const { keyring, deps, store, holder } = vault
  const reseal = makeResealer({
    ...vault,
    clockAheadMs: () => 0,
    isShared: false,
    replaceMasterKey: async () => {},
  })
  let second: Promise<unknown> | undefined
  atEnd = async () => {
    atEnd = async () => {}
    await rotate(holder)
    second = reseal()
  }
  await reseal()
  await second
  const { currentKeyNumber } = keyring.keys.installation
  expect(currentKeyNumber).toBe(2)
  expect([...(await countByKey(store)).keys()]).toEqual([2])
  expect(deps.keys).toBe(keyring.keys)
})

test('retiring ends what rotations have left that were cut off, however many', async () => {
  const vault = await openVault()
  const { holder, keyring, insert } = vault
  for (let count = 1; count < dataKeysMax; count += 1) {
    await insert()
    await rotate(holder)
  }
  const administered = {
    ...vault,
    clockAheadMs: () => 0,
    isShared: false,
    replaceMasterKey: async () => {},
  }
  const operations = keyOperations(administered, makeResealer(administered))
  const refused = operations['keys-rotate']?.run({}, () => {}, theOperator)
  await expect(refused).rejects.toThrow('run keys retire')
  expect(await operations['keys-retire']?.run({}, () => {}, theOperator)).toMatchObject({
    keys: [{ number: 1 }, { number: 2 }, { number: 3 }],
  })
  expect(keyring.current().dataKeys.map(({ number }) => number)).toEqual([dataKeysMax])
  expect(await operations['keys-rotate']?.run({}, () => {}, theOperator)).toMatchObject({
    key: dataKeysMax + 1,
  })
})

test('one new master key at a time: the file of one would take the place of another', async () => {
  const vault = await openVault()
  const begun = Promise.withResolvers<void>()
  const replaced = Promise.withResolvers<void>()
  const replaceMasterKey = async () => {
    begun.resolve()
    await replaced.promise
  }
  const administered = { ...vault, clockAheadMs: () => 0, isShared: false, replaceMasterKey }
  const operations = keyOperations(administered, makeResealer(administered))
  const input = { file: 'master.key', forget_before: true }
  const rekey = async () => operations['keys-rekey']?.run(input, () => {}, theOperator)
  const first = rekey()
  await begun.promise
  const second = rekey().then(
    () => 'done',
    (error: unknown) => (error instanceof ApiError ? error.kind : error),
  )
  await setImmediate()
  replaced.resolve()
  expect(await second).toBe('conflict')
  expect(await first).toMatchObject({ master_key: 0 })
  expect(await rekey()).toMatchObject({ master_key: 0 })
})
