/**
 * Keyrings as they lie in the files of a data folder: the current one, and the remains of earlier
 * ones in the pages of the engine, committed or not.
 *
 * A keyring's row is found by its unique, which is no secret, and opened with every master key so
 * far. Its sealed bytes are remembered, so that pieces of them are found as well.
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeKeyring, secretBytesOf } from '../../../src/crypto/keyring-format.ts'
import { keyNumberOf } from '../../../src/crypto/seal.ts'
import { keyringSealer, keyringUnique } from '../../../src/vault/keyring/live-keyring.ts'
import { unsealRow } from '../../../src/records/seal-row.ts'
import { readMasterKey } from '../../../src/server/keys/master-key.ts'
import { decodeRow } from '../../../src/store/core/row-format.ts'

/** Offsets in the value of a row: its unique, and after that its parts. */
const uniqueAt = 21
const partsAt = uniqueAt + 32
const lengthBytes = 4
const pieceBytes = 16

/** A keyring that was seen, current or not. */
export interface SeenKeyring {
  /** Version of its row. */
  readonly version: number
  /** Number of the master key that it is under, which counts replacements. */
  readonly masterNumber: number
  /** Numbers of the keys in it. */
  readonly numbers: readonly number[]
  /** Head, and ciphertext of its keys. */
  readonly sealed: Buffer
}

export interface Memory {
  readonly data: string
  /** Every master key so far, as hexadecimal digits. */
  readonly masterKeys: Set<string>
  /** Every keyring so far, by its head. */
  readonly keyrings: Map<string, SeenKeyring>
}

export const openMemory = (data: string): Memory => ({
  data,
  masterKeys: new Set(),
  keyrings: new Map(),
})

export const masterKeyOf = (data: string): string => join(data, 'master.key')
export const nextMasterKeyOf = (data: string): string => `${masterKeyOf(data)}.next`

function rememberMasterKeys({ data, masterKeys }: Memory): void {
  for (const path of [masterKeyOf(data), nextMasterKeyOf(data)]) {
    if (!existsSync(path)) continue
    try {
      masterKeys.add(Buffer.from(readMasterKey(path)).toString('hex'))
    } catch {
      // Its write was interrupted, or it has just replaced the current master key.
    }
  }
}

/** Bytes of a row that begins there; `undefined` if its lengths lead beyond the file. */
function rowBytes(bytes: Buffer, from: number): Buffer | undefined {
  let at = from + partsAt
  for (let part = bytes[from + 1] ?? 0; part > 0; part -= 1) {
    if (at + lengthBytes > bytes.length) return undefined
    at += lengthBytes + bytes.readUInt32BE(at)
  }
  return at <= bytes.length ? bytes.subarray(from, at) : undefined
}

function open(value: Buffer, masterKey: string): SeenKeyring | undefined {
  try {
    const row = decodeRow(value, 1)
    const [head = new Uint8Array(), encrypted = new Uint8Array()] = row.parts
    const masterNumber = keyNumberOf(head)
    const sealer = keyringSealer(Buffer.from(masterKey, 'hex'), masterNumber)
    const keyring = decodeKeyring(unsealRow(sealer, row).value(0))
    const sealed = Buffer.concat([head, encrypted.subarray(0, secretBytesOf(keyring))])
    const numbers = keyring.dataKeys.map(({ number }) => number)
    return { version: row.version, masterNumber, numbers, sealed }
  } catch {
    // It is sealed under another master key, or was partly overwritten.
    return undefined
  }
}

function filesOf(data: string): string[] {
  return readdirSync(data, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
}

const headBytes = 63

/** Name under which a keyring is remembered, from the head of its row. */
export const keyOfHead = (head: Uint8Array): string =>
  Buffer.from(head.subarray(0, headBytes)).toString('hex')

function* keyringsIn(bytes: Buffer, masterKeys: ReadonlySet<string>): Generator<SeenKeyring> {
  let at = bytes.indexOf(keyringUnique)
  for (; at >= 0; at = bytes.indexOf(keyringUnique, at + 1)) {
    const value = at < uniqueAt ? undefined : rowBytes(bytes, at - uniqueAt)
    if (value === undefined) continue
    for (const masterKey of masterKeys) {
      const seen = open(value, masterKey)
      if (seen !== undefined) yield seen
    }
  }
}

/** Reads the files as they are now. @returns the keyrings in them, each once */
export function remember(memory: Memory): ReadonlyMap<string, SeenKeyring> {
  const { data, masterKeys, keyrings } = memory
  rememberMasterKeys(memory)
  const found = new Map<string, SeenKeyring>()
  for (const path of filesOf(data)) {
    for (const seen of keyringsIn(readFileSync(path), masterKeys)) {
      found.set(keyOfHead(seen.sealed), seen)
    }
  }
  for (const [key, seen] of found) keyrings.set(key, seen)
  return found
}

/** Current keys, as `coffer keys status` shows them. */
export interface Standing {
  readonly masterNumber: number
  readonly numbers: readonly number[]
}

const isGone = ({ masterNumber, numbers }: SeenKeyring, standing: Standing): boolean =>
  masterNumber !== standing.masterNumber ||
  numbers.some(number => !standing.numbers.includes(number))

const piecesOf = ({ sealed }: SeenKeyring): Buffer[] =>
  Array.from({ length: Math.floor(sealed.length / pieceBytes) }, (_, at) =>
    sealed.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  )

/** Counts occurrences of many pieces in one pass. */
function countPieces(bytes: Buffer, pieces: readonly Buffer[]): number {
  const begins = new Uint8Array(2 ** 16)
  const byBegin = new Map<number, Buffer[]>()
  for (const piece of pieces) {
    const begin = piece.readUInt32BE(0)
    begins[begin >>> 16] = 1
    byBegin.set(begin, [...(byBegin.get(begin) ?? []), piece])
  }
  let count = 0
  for (let at = 0; at + pieceBytes <= bytes.length; at += 1) {
    if (begins[((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)] !== 1) continue
    const found = byBegin.get(bytes.readUInt32BE(at))
    if (found?.some(piece => piece.compare(bytes, at, at + pieceBytes) === 0) === true) count += 1
  }
  return count
}

/**
 * Counts pieces in the files of keyrings with a retired key, or under a replaced master key.
 * @param standing once `coffer keys retire` has reported that nothing is left
 */
export function countLeft(memory: Memory, standing: Standing): number {
  remember(memory)
  const gone = [...memory.keyrings.values()].filter(seen => isGone(seen, standing))
  const pieces = gone.flatMap(piecesOf)
  return filesOf(memory.data)
    .map(path => countPieces(readFileSync(path), pieces))
    .reduce((sum, count) => sum + count, 0)
}
