/**
 * Floor (b): the plainest durable layout of the same rows in LMDB, one key per fact.
 *
 * `lmdb.ts <folder> <seconds> <writers> <row bytes> <uniques> <terms>` prints one line of JSON.
 * Each writer puts a row, its uniques and its terms, waits until they are on disk, and repeats.
 * @module
 */
import { randomFillSync } from 'node:crypto'
import { open, type Database } from 'lmdb'
import { quantile } from '../statistics.ts'

type Table = Database<Uint8Array, Uint8Array>

const [folder = '', ...numbers] = process.argv.slice(2)
const [seconds = 1, writers = 1, rowBytes = 1, uniqueCount = 1, termCount = 1] = numbers.map(Number)

// The options of the vault's own environment.
const tableOptions = {
  encoding: 'binary',
  keyEncoding: 'binary',
  cache: false,
  compression: false,
} as const
const rootOptions = {
  ...tableOptions,
  noSubdir: false,
  overlappingSync: false,
  safeRestore: true,
  maxDbs: 8,
  mapSize: 64 * 1024 ** 3,
}
const root = open<Uint8Array, Uint8Array>({ ...rootOptions, path: folder })
const tableOf = (name: string): Table => root.openDB({ ...tableOptions, name })
const [rows, uniques, terms] = [tableOf('rows'), tableOf('uniques'), tableOf('terms')]

const random = (count: number): Uint8Array => randomFillSync(new Uint8Array(count))
const rowValue = random(rowBytes)
const uniqueValue = random(10)
const nothing = new Uint8Array(0)
/** All cards of one day and one creator share all terms but the fingerprint. */
const sharedTerms = Array.from({ length: termCount - 1 }, () => random(16))

const ordinalBytes = 6
let ordinal = rows.getKeysCount()

function nextKey(): Buffer {
  const key = Buffer.alloc(ordinalBytes)
  key.writeUIntBE((ordinal += 1), 0, ordinalBytes)
  return key
}

/** All puts of one turn go into one transaction, so the last promise covers them all. */
async function putToken(): Promise<void> {
  const key = nextKey()
  for (let at = 0; at < uniqueCount; at += 1) void uniques.put(random(32), uniqueValue)
  for (const term of [...sharedTerms, random(16)]) {
    void terms.put(Buffer.concat([term, key]), nothing)
  }
  await rows.put(key, rowValue)
}

const latenciesMs: number[] = []
const startMs = performance.now()

async function write(): Promise<void> {
  for (;;) {
    const beganMs = performance.now()
    if (beganMs - startMs > seconds * 1_000) return
    await putToken()
    latenciesMs.push(performance.now() - beganMs)
  }
}

await Promise.all(Array.from({ length: writers }, write))
const elapsedSeconds = (performance.now() - startMs) / 1_000
await root.close()
console.info(
  JSON.stringify({
    requests: latenciesMs.length,
    perSecond: latenciesMs.length / elapsedSeconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  }),
)
