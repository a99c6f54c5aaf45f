/**
 * `coffer token import --dry-run`: checks every row, as far as that is possible without storing it.
 * @module
 */
import { createHash } from 'node:crypto'
import type { Client } from '../../client/index.ts'
import { dealWithAll, type Deal } from './import-batches.ts'
import { openReport, type ImportPlan } from './import-plan.ts'
import type { InputRow } from './import-rows.ts'
import { interrupted, makeTeller, noCounts, tellEnd } from './import-told.ts'
import { checkRows, type SentRow } from './send-rows.ts'

const firstPlaces = 1024

/**
 * Remembers the ids that a file has named, in 16 to 32 bytes an id, however long the ids are.
 * @returns true if an id was there before; 64 bits of its digest keep a million ids apart
 */
function makeIdSet(): (id: string) => boolean {
  let places = new BigUint64Array(firstPlaces)
  let count = 0
  const put = (digest: bigint): boolean => {
    let at = Number(digest & BigInt(places.length - 1))
    for (; places[at] !== 0n; at = (at + 1) & (places.length - 1)) {
      if (places[at] === digest) return true
    }
    places[at] = digest
    return false
  }
  return id => {
    const digest = createHash('sha256').update(id).digest().readBigUInt64LE() || 1n
    if (put(digest)) return true
    count += 1
    if (2 * count <= places.length) return false
    const before = places
    places = new BigUint64Array(2 * before.length)
    for (const each of before) if (each !== 0n) put(each)
    return false
  }
}

/** `--dry-run`: checks every row, and stores nothing. */
export async function tryAll(
  plan: ImportPlan,
  client: Client,
  isInterrupted: () => boolean,
): Promise<void> {
  const { options, open } = plan
  const counts = noCounts()
  const isSeen = makeIdSet()
  const toldNow = makeTeller(options, counts)
  const report = openReport(plan)
  const hash = createHash('sha256')
  const twice = (request: SentRow['request']): boolean => {
    const id = (request as ReadonlyMap<string, unknown>).get('id')
    return typeof id === 'string' && isSeen(id)
  }
  const deal: Deal = async rows => {
    const reasons = await checkRows(client, rows)
    return rows.map(({ request }, at) => {
      const isTwice = twice(request)
      const reason = reasons[at] ?? (isTwice ? 'id: an earlier row has it' : undefined)
      return reason === undefined ? undefined : { kind: 'rejected', reason }
    })
  }
  const keep = ({ line }: InputRow): void => {
    report?.keep()
    toldNow()
    if (isInterrupted()) throw interrupted(options, line)
  }
  const types = new Map<string, Promise<boolean>>()
  const work = { client, deal, counts, report, ids: undefined, types, hash, keep, shown: 0 }
  try {
    await dealWithAll(work, await open(hash), undefined)
  } finally {
    report?.close()
  }
  tellEnd(options, counts)
}
