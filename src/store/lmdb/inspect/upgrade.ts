/**
 * A store of the format before this one, written anew in this one.
 *
 * Rows keep their ordinals, headers and sealed parts. Of format 1 a row had no checksum of its
 * header, the key of a term began with the term, every row was in the index, and meta had a value
 * for each fact. The old store must have no writer meanwhile, and nothing of it is changed.
 * @module
 */
import { bytesOfHex, readU48, u48Bytes, utf8 } from '../../../bytes.ts'
import { assertStored } from '../../../errors.ts'
import { noProgress, type Progress } from '../../../progress.ts'
import { eachUnique } from '../../rows.ts'
import { openTables, stateKey, type Environment, type Put } from '../environment.ts'
import { decodeRowKey, decodeRowVersion, upgradeRow } from '../layout.ts'
import { buildStore, makeRowPuts, putAll, putState } from './build.ts'
import { copyTable } from './compact.ts'

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

function* rowPuts(from: OldEnvironment, to: Environment, progress: Progress): Generator<Put> {
  const tell = progress(readFact(from, 'next_ordinal'), 'rows')
  const puts = makeRowPuts(to)
  for (const { key, value } of from.rows.getRange()) {
    const ordinal = decodeRowKey(key)
    tell(ordinal)
    const { bytes, header } = upgradeRow(value)
    assertHeld(from, ordinal, header.clear, header.version)
    yield* puts.next({ ordinal, bytes, clear: header.clear })
  }
  yield* puts.end()
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
  const old = openTables(from, oldTableNames)
  try {
    await buildStore(to, made => {
      assertStored(readFact(old, 'format') === oldFormat, 'a store of the format before')
      putAll(rowPuts(old, made, progress), made)
      copyTable(old.uniques, made.uniques, made)
      copyTable(old.deadlines, made.deadlines, made)
      putState(made, readFact(old, 'next_ordinal'), readFact(old, 'generation'))
    })
  } finally {
    await old.root.close()
  }
}

/** Whether an upgrade that was broken off has put the new store in the place of the old one. */
export async function isUpgraded(path: string): Promise<boolean> {
  const { root, meta } = openTables(path, ['meta'])
  const isOfState = meta.getBinary(stateKey) !== undefined
  await root.close()
  return isOfState
}
