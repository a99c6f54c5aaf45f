/**
 * Rows of an import in batches: keeps the progress, and the outcome of each row.
 * @module
 */
import type { Hash } from 'node:crypto'
import type { Client } from '../../client/index.ts'
import {
  importBatchCharsMax,
  importBatchRows,
  importReasonsShownMax,
} from '../../limits/operation-limits.ts'
import { usage } from '../../server/process/failure.ts'
import { stderrNow } from '../../server/process/system.ts'
import { visible } from '../../server/watch/visible-text.ts'
import type { ImportState, ReportFile } from './import-files.ts'
import type { InputRow } from './import-rows.ts'
import type { ImportCounts } from './import-told.ts'
import { knowsType, type RowFate, type SentRow } from './send-rows.ts'

/** Handles the rows of a batch; `undefined` for a row that would be taken. */
export type Deal = (rows: readonly SentRow[]) => Promise<readonly (RowFate | undefined)[]>

export interface ImportRun {
  readonly client: Client
  readonly deal: Deal
  readonly counts: ImportCounts
  readonly report: ReportFile | undefined
  readonly ids: ReportFile | undefined
  readonly types: Map<string, Promise<boolean>>
  /** Hash of all bytes read so far. */
  readonly hash: Hash
  /** Notes that a batch and all before it are handled. @param row the last of the batch */
  readonly keep: (row: InputRow) => void
  shown: number
}

interface Batch {
  readonly rows: SentRow[]
  readonly reasons: [line: number, reason: string][]
  chars: number
}

export const digestOf = (hash: Hash): string => hash.copy().digest('hex')

function tellReason(work: ImportRun, line: number, reason: string): void {
  work.counts.rejected += 1
  if (work.report !== undefined) return work.report.add([String(line), visible(reason)])
  work.shown += 1
  if (work.shown <= importReasonsShownMax) stderrNow.line(`line ${line}: ${reason}`)
  if (work.shown === importReasonsShownMax) stderrNow.line('more: see --report')
}

/** Handles a batch. @param last the row that it ends with */
async function flush(work: ImportRun, { rows, reasons }: Batch, last: InputRow): Promise<void> {
  const fates = rows.length === 0 ? [] : await work.deal(rows)
  for (const [at, { line }] of rows.entries()) {
    const fate = fates[at]
    if (fate?.kind === 'rejected') reasons.push([line, fate.reason])
    else if (fate === undefined) work.counts.created += 1
    else work.counts[fate.kind] += 1
    if (fate !== undefined && 'id' in fate) work.ids?.add([String(line), fate.id])
  }
  for (const [line, reason] of reasons.toSorted(([a], [b]) => a - b)) {
    tellReason(work, line, reason)
  }
  work.keep(last)
}

function typeOf(request: SentRow['request']): string {
  return (request as ReadonlyMap<string, string>).get('type') ?? ''
}

async function isKnown({ client, types }: ImportRun, type: string): Promise<boolean> {
  const known = types.get(type) ?? knowsType(client, type)
  types.set(type, known)
  return known
}

async function take(work: ImportRun, batch: Batch, row: InputRow): Promise<void> {
  const { line, request, text = '', reason } = row
  if (row.isBlank === true) work.counts.blank += 1
  else if (request === undefined) batch.reasons.push([line, reason ?? 'it cannot be read'])
  else if (await isKnown(work, typeOf(request))) {
    batch.rows.push({ line, request })
    batch.chars += text.length
  } else batch.reasons.push([line, 'type: the vault knows no such type'])
}

const emptyBatch = (): Batch => ({ rows: [], reasons: [], chars: 0 })

const isFull = ({ rows, reasons, chars }: Batch): boolean =>
  rows.length + reasons.length >= importBatchRows || chars >= importBatchCharsMax

const changedInput = () =>
  usage('the input no longer begins with the imported rows: resume with the same file')

type Progress = Pick<ImportState, 'offset' | 'digest'>

/**
 * Yields the rows behind those that an import has handled, all of them without one.
 * @throws CommandFailure unless the input begins with those
 */
async function* rowsBehind(
  rows: AsyncIterable<InputRow>,
  hash: Hash,
  before: Progress | undefined,
): AsyncGenerator<InputRow> {
  let isPast = before === undefined || before.offset === 0
  for await (const row of rows) {
    if (isPast) yield row
    else {
      isPast = row.end === before?.offset
      if (isPast && digestOf(hash) !== before?.digest) throw changedInput()
    }
  }
  if (!isPast) throw changedInput()
}

/** @throws CommandFailure unless the input of an import that is done is as it was */
export async function assertAllHandled(
  rows: AsyncIterable<InputRow>,
  hash: Hash,
  before: Progress,
): Promise<void> {
  for await (const _ of rowsBehind(rows, hash, before)) {
    throw usage('this import is done, and the input has more rows: import them as another file')
  }
}

/** @param before progress of an import that continues */
export async function dealWithAll(
  work: ImportRun,
  rows: AsyncIterable<InputRow>,
  before: Progress | undefined,
): Promise<void> {
  let batch = emptyBatch()
  let last: InputRow | undefined
  for await (const row of rowsBehind(rows, work.hash, before)) {
    await take(work, batch, row)
    last = row
    if (!isFull(batch)) continue
    await flush(work, batch, row)
    batch = emptyBatch()
    last = undefined
  }
  if (last !== undefined) await flush(work, batch, last)
}
