/**
 * A store of the format before this one, written anew in this one.
 *
 * Rows keep their ordinals, headers and sealed parts. Of format 1 a row had no checksum of its
 * header, the key of a term began with the term, every row was in the index, and meta had a value
 * for each fact. The old store must have no writer meanwhile, and nothing of it is changed.
 * @module
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { compactBatchBytes } from '../../limits.ts'
import { bytesOfHex, readU48, u48Bytes, utf8 } from '../../../bytes.ts'
import { assertStored } from '../../../errors.ts'
import { ownerOnlyFolder } from '../../../files.ts'
import { noProgress, type Progress } from '../../../progress.ts'
import { eachTerm, eachUnique } from '../../rows.ts'
import {
  encodeState,
  openEnvironment,
  openTables,
  rewriteMeta,
  stateKey,
  type Environment,
  takePut,
  type Put,
} from '../environment.ts'
import { encodePlaceSet } from '../../place-set.ts'
import { encodeTermKey, addPlace, placeSetOf, type Places } from '../index/postings.ts'
import { chunkOf, lowOf } from '../../plan.ts'
import { decodeRowKey, decodeRowVersion, upgradeRow } from '../layout.ts'
import { copyTable, syncFile } from './compact.ts'

export const oldTableNames = ['rows', 'uniques', 'terms', 'deadlines', 'meta'] as const

type OldEnvironment = ReturnType<typeof openTables<(typeof oldTableNames)[number]>>

const oldFormat = 1

function readFact({ meta }: OldEnvironment, name: string): number {
  const value = meta.getBinary(utf8(name))
  assertStored(value?.length === u48Bytes, 'facts of 6 bytes')
  return readU48(value, 0)
}

/** @throws ApiError `storage_corrupt` unless each unique leads to the row at its version */
function assertHeld(
  { uniques }: OldEnvironment,
  ordinal: number,
  clear: Uint8Array,
  version: number,
) {
  eachUnique(clear, key => {
    const value = uniques.getBinary(bytesOfHex(key))
    const entry = value === undefined ? undefined : decodeRowVersion(value)
    const isHeld = entry?.ordinal === ordinal && entry.version === version
    assertStored(isHeld, 'a row that its uniques lead to, at the same version')
  })
}

/** The terms of the rows of one chunk, as entries of the index in the order of their keys. */
function* termPuts(terms: ReadonlyMap<string, Places>, chunk: number, to: Environment) {
  for (const key of [...terms.keys()].sort()) {
    const value = encodePlaceSet(placeSetOf(terms.get(key)))
    yield { table: to.terms, key: encodeTermKey(bytesOfHex(key), chunk), value, isLast: true }
  }
}

function* rowPuts(from: OldEnvironment, to: Environment, progress: Progress): Generator<Put> {
  const tell = progress(readFact(from, 'next_ordinal'), 'rows')
  let chunk = -1
  let terms = new Map<string, Places>()
  for (const { key, value } of from.rows.getRange()) {
    const ordinal = decodeRowKey(key)
    tell(ordinal)
    const { bytes, header } = upgradeRow(value)
    assertHeld(from, ordinal, header.clear, header.version)
    if (chunkOf(ordinal) !== chunk) {
      yield* termPuts(terms, chunk, to)
      chunk = chunkOf(ordinal)
      terms = new Map()
    }
    eachTerm(header.clear, term => terms.set(term, addPlace(terms.get(term), lowOf(ordinal))))
    yield { table: to.rows, key, value: bytes, isLast: true }
  }
  yield* termPuts(terms, chunk, to)
}

function putAll(puts: Iterator<Put>, { root }: Environment): void {
  const putBatch = (): boolean => {
    for (let bytes = 0; bytes < compactBatchBytes;) {
      const next = puts.next()
      if (next.done === true) return false
      takePut(next.value)
      bytes += next.value.key.length + (next.value.value?.length ?? 0)
    }
    return true
  }
  while (root.transactionSync(putBatch));
}

function putMeta(from: OldEnvironment, to: Environment): void {
  const nextOrdinal = readFact(from, 'next_ordinal')
  const state = {
    nextOrdinal,
    generation: readFact(from, 'generation'),
    foldedTo: nextOrdinal,
    foldingTo: nextOrdinal,
    foldedPrefixes: 0,
    movesFrom: 0,
    movesTo: 0,
    movesOfFold: 0,
  }
  to.root.transactionSync(() => {
    rewriteMeta(to)
    to.meta.putSync(stateKey, encodeState(state))
  })
}

/**
 * @param from the folder of a store of the format before this one, whose pages are sound
 * @param to   a folder that does not exist; what is in it when this resolves is on disk
 * @throws ApiError `storage_corrupt` where something of the old store is damaged
 */
export async function upgradeStore(
  from: string,
  to: string,
  progress: Progress = noProgress,
): Promise<void> {
  mkdirSync(to, { mode: ownerOnlyFolder })
  const old = openTables(from, oldTableNames)
  const made = openEnvironment(to)
  try {
    assertStored(readFact(old, 'format') === oldFormat, 'a store of the format before')
    putAll(rowPuts(old, made, progress), made)
    copyTable(old.uniques, made.uniques, made)
    copyTable(old.deadlines, made.deadlines, made)
    putMeta(old, made)
  } finally {
    await made.root.close()
    await old.root.close()
  }
  syncFile(join(to, 'data.mdb'))
}

/** Whether an upgrade that was broken off has put the new store in the place of the old one. */
export async function isUpgraded(path: string): Promise<boolean> {
  const { root, meta } = openTables(path, ['meta'])
  const isOfState = meta.getBinary(stateKey) !== undefined
  await root.close()
  return isOfState
}
