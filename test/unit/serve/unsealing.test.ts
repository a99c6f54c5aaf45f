/**
 * Shares as they come to a process, and the states of a vault that is sealed and unsealed.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { splitKey } from '../../../src/crypto/shares.ts'
import { wrongSharesMax } from '../../../src/limits/operation-limits.ts'
import { makeSealing } from '../../../src/server/keys/sealing.ts'
import { makeUnsealer, collectShares } from '../../../src/server/keys/unsealer.ts'
import { seededBytes } from '../../support/seeded.ts'

const random = seededBytes(11)
const fresh = (): Uint8Array => Uint8Array.from(random(32))
const split = (key: Uint8Array, count: number, threshold: number) =>
  splitKey(key.slice(), count, threshold, random)
const none = new Uint8Array()

/** The same share with another value in it, and the checksum of that. */
function altered(share: Uint8Array): Uint8Array {
  const text = Buffer.from(share).toString('latin1')
  const [, head = '', digit = '', rest = ''] = /^(.*-)(.)([^-]*-)[^-]*$/.exec(text) ?? []
  const body = `${head}${digit === '0' ? '1' : '0'}${rest}`
  return Buffer.from(body + createHash('sha256').update(body).digest('hex').slice(0, 8))
}

const isWiped = (bytes: Uint8Array): boolean => bytes.every(byte => byte === 0)

describe('shares that come one by one', () => {
  test('give the key with the last one that is needed', async () => {
    const key = fresh()
    const shares = await split(key, 5, 3)
    const collection = collectShares()
    expect(collection.progress()).toEqual({ shares: 0, threshold: null })
    expect(await collection.add(shares[4] ?? none)).toBeUndefined()
    expect(collection.progress()).toEqual({ shares: 1, threshold: 3 })
    expect(await collection.add(shares[0] ?? none)).toBeUndefined()
    expect(Buffer.from((await collection.add(shares[2] ?? none)) ?? none)).toEqual(Buffer.from(key))
    expect(collection.progress()).toEqual({ shares: 0, threshold: null })
  })

  test('are refused twice and of another split, and those before stay', async () => {
    const key = fresh()
    const [first = none, second = none] = await split(key, 3, 2)
    const [foreign = none] = await split(fresh(), 3, 2)
    const [again = none] = await split(key, 3, 2)
    const collection = collectShares()
    await collection.add(first)
    await expect(collection.add(first)).rejects.toThrow(/is here already/)
    await expect(collection.add(foreign)).rejects.toThrow(/of another key, or of another split/)
    await expect(collection.add(again)).rejects.toThrow(/of another key, or of another split/)
    await expect(collection.add(Buffer.from('nothing'))).rejects.toThrow(/is not a share/)
    expect(collection.progress()).toEqual({ shares: 1, threshold: 2 })
    expect(await collection.add(second)).toBeDefined()
  })

  test('are forgotten when that is asked for', async () => {
    const [first = none, second = none] = await split(fresh(), 2, 2)
    const collection = collectShares()
    await collection.add(first)
    collection.reset()
    expect(await collection.add(second)).toBeUndefined()
    expect(collection.progress()).toEqual({ shares: 1, threshold: 2 })
  })

  test('are wiped once they were joined, with or without success, and when forgotten', async () => {
    const [first = none, second = none] = await split(fresh(), 3, 2)
    for (const last of [second, altered(second), undefined]) {
      const collection = collectShares()
      await collection.add(first)
      const parts = collection.shares().map(({ part }) => part)
      expect(parts.map(isWiped)).toEqual([false])
      if (last === undefined) collection.reset()
      else if (last === second) expect(await collection.add(last)).toBeDefined()
      else await expect(collection.add(last)).rejects.toThrow(/make no master key/)
      expect(parts.map(isWiped)).toEqual([true])
    }
  })
})

interface Opened {
  readonly key: string
}

function vaultOf(key: Uint8Array) {
  const closed: Opened[] = []
  let wait = Promise.resolve()
  const sealing = makeSealing<Opened>({
    async open(masterKey) {
      await wait
      if (!Buffer.from(masterKey).equals(key)) throw new Error('another key')
      return { key: Buffer.from(masterKey).toString('hex') }
    },
    async close(open) {
      await wait
      closed.push(open)
    },
  })
  return { sealing, closed, hold: (until: Promise<void>) => (wait = until) }
}

describe('a vault', () => {
  test('is sealed, unsealed and sealed again, each once', async () => {
    const key = fresh()
    const { sealing, closed } = vaultOf(key)
    expect(sealing.current()).toBeUndefined()
    await expect(sealing.seal()).rejects.toThrow(/sealed already/)
    const brought = key.slice()
    await sealing.unseal(brought)
    expect(brought).toEqual(new Uint8Array(32))
    expect(sealing.current()).toBeDefined()
    await expect(sealing.unseal(key.slice())).rejects.toThrow(/is not sealed/)
    await sealing.seal()
    expect([sealing.current(), closed.length]).toEqual([undefined, 1])
  })

  test('stays sealed where the key does not open it, and wipes that', async () => {
    const { sealing } = vaultOf(fresh())
    const wrong = fresh()
    await expect(sealing.unseal(wrong)).rejects.toThrow('another key')
    await Bun.sleep(0)
    expect([sealing.current(), wrong]).toEqual([undefined, new Uint8Array(32)])
  })

  test('takes one change at a time, and is sealed from the beginning of the seal', async () => {
    const key = fresh()
    const { sealing, hold } = vaultOf(key)
    await sealing.unseal(key.slice())
    const held = Promise.withResolvers<void>()
    hold(held.promise)
    const sealed = sealing.seal()
    expect(sealing.current()).toBeUndefined()
    await expect(sealing.unseal(key.slice())).rejects.toThrow(/being sealed or unsealed/)
    await expect(sealing.seal()).rejects.toThrow(/being sealed or unsealed/)
    held.resolve()
    await sealed
    await sealing.unseal(key.slice())
    expect(sealing.current()).toBeDefined()
  })
})

describe('the process that is unsealed', () => {
  test('brings the whole key over the control socket alone', async () => {
    const key = fresh()
    const digits = Buffer.from(Buffer.from(key).toString('hex'))
    const { sealing } = vaultOf(key)
    const unsealer = makeUnsealer(sealing, () => {})
    await expect(unsealer.takeShare(Buffer.from(digits))).rejects.toThrow(/is not a share/)
    expect(await unsealer.take(digits)).toEqual({ sealed: false, shares: 0, threshold: null })
    expect(digits).toEqual(Buffer.alloc(64))
    await expect(unsealer.takeShare(Buffer.from('any'))).rejects.toThrow(/is not sealed/)
  })

  test('has few wrong tries from afar, and any number on the machine', async () => {
    const key = fresh()
    const [first = none, second = none] = await split(key, 2, 2)
    const { sealing } = vaultOf(key)
    const events: string[] = []
    const unsealer = makeUnsealer(sealing, event => events.push(event))
    for (let count = 0; count < wrongSharesMax; count += 1) {
      await unsealer.takeShare(Buffer.from('wrong')).catch(() => {})
    }
    expect(events).toEqual(Array(wrongSharesMax).fill('unseal_refused'))
    await expect(unsealer.takeShare(Uint8Array.from(first))).rejects.toThrow(
      /too many wrong shares/,
    )
    expect(await unsealer.take(Uint8Array.from(first))).toEqual({
      sealed: true,
      shares: 1,
      threshold: 2,
    })
    unsealer.reset()
    expect(unsealer.status()).toEqual({ sealed: true, shares: 0, threshold: null })
    await unsealer.takeShare(Uint8Array.from(first))
    expect(await unsealer.takeShare(Uint8Array.from(second))).toMatchObject({ sealed: false })
    expect(events.at(-1)).toBe('unsealed')
  })

  test('with shares of another vault opens nothing, and they are gone', async () => {
    const [first = none, second = none] = await split(fresh(), 2, 2)
    const { sealing } = vaultOf(fresh())
    const unsealer = makeUnsealer(sealing, () => {})
    await unsealer.takeShare(first)
    await expect(unsealer.takeShare(second)).rejects.toThrow('another key')
    await Bun.sleep(5)
    expect(unsealer.status()).toEqual({ sealed: true, shares: 0, threshold: null })
    expect([first, second]).toEqual([Buffer.alloc(first.length), Buffer.alloc(first.length)])
  })
})
