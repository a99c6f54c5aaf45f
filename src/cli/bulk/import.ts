/**
 * `coffer token import`: rows of a file become tokens of a running vault, each once.
 *
 * Rows go in batches, each under an idempotency key that follows from the import and the lines: a
 * batch that was sent before an end by force is answered as it was, and makes nothing again.
 * @module
 */
import { Option, type Command } from 'commander'
import { createHash, type Hash } from 'node:crypto'
import { extname, resolve } from 'node:path'
import type { Client } from '../../client/index.ts'
import { CofferError } from '../../client/index.ts'
import { hexOf } from '../../lib/bytes.ts'
import {
  importBatchCharsMax,
  importBatchRows,
  importIdBytes,
  importKnownMs,
  importReasonsShownMax,
} from '../../limits/operation-limits.ts'
import { CommandFailure, usageExitCode } from '../../server/process/failure.ts'
import { randomBytes, stderrNow, wallMs } from '../../server/process/system.ts'
import { visible } from '../../server/watch/visible-text.ts'
import { takesCaller, withClient, type ReachOptions } from '../reach.ts'
import { exactJson } from '../exact-json.ts'
import {
  encodings,
  isReadByOthers,
  openInput,
  standardInputName,
  type InputOptions,
} from './import-input.ts'
import {
  openTable,
  readState,
  writeState,
  type ImportState,
  type ReportFile,
} from './import-files.ts'
import { makeIdSet } from './id-set.ts'
import { untilInterrupted } from './interrupt.ts'
import { interrupted, makeTeller, noCounts, tellEnd, type ImportCounts } from './import-told.ts'
import { rowsOf, type InputRow } from './import-rows.ts'
import { checkRows, knowsType, sendRows, type RowFate, type SentRow } from './send-rows.ts'
import { readTemplate } from './template.ts'

interface ImportOptions extends ReachOptions, InputOptions {
  readonly map?: string
  readonly format?: 'csv' | 'jsonl'
  readonly delimiter?: string
  readonly codes?: boolean
  readonly dryRun?: boolean
  readonly resume?: boolean
  readonly report?: string
  readonly ids?: string
  readonly state?: string
}

const usage = (message: string) => new CommandFailure(message, usageExitCode)

/** What is done with the rows of a batch; `undefined` for a row that would be taken. */
type Deal = (rows: readonly SentRow[]) => Promise<readonly (RowFate | undefined)[]>

interface ImportRun {
  readonly client: Client
  readonly deal: Deal
  readonly counts: ImportCounts
  readonly report: ReportFile | undefined
  readonly ids: ReportFile | undefined
  readonly types: Map<string, Promise<boolean>>
  /** Of all that was read. */
  readonly hash: Hash
  /** That a batch and all before it were dealt with. */
  readonly keep: (row: InputRow) => void
  shown: number
}

interface Batch {
  readonly rows: SentRow[]
  readonly reasons: [line: number, reason: string][]
  chars: number
}

const digestOf = (hash: Hash): string => hash.copy().digest('hex')

function tellReason(work: ImportRun, line: number, reason: string): void {
  work.counts.rejected += 1
  if (work.report !== undefined) return work.report.add([String(line), visible(reason)])
  work.shown += 1
  if (work.shown <= importReasonsShownMax) stderrNow.line(`line ${line}: ${reason}`)
  if (work.shown === importReasonsShownMax) stderrNow.line('more: see --report')
}

/** Deals with a batch. @param last the row that it ends with */
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
  usage('the input: what was imported of it before is not what it begins with now')

/** @param before what an import that goes on has dealt with */
async function dealWithAll(
  work: ImportRun,
  rows: AsyncIterable<InputRow>,
  before: Pick<ImportState, 'offset' | 'digest'> | undefined,
): Promise<void> {
  let batch = emptyBatch()
  let last: InputRow | undefined
  let isPast = before === undefined || before.offset === 0
  for await (const row of rows) {
    if (!isPast) {
      isPast = row.end === before?.offset
      if (isPast && digestOf(work.hash) !== before?.digest) throw changedInput()
      continue
    }
    await take(work, batch, row)
    last = row
    if (!isFull(batch)) continue
    await flush(work, batch, row)
    batch = emptyBatch()
    last = undefined
  }
  if (!isPast) throw changedInput()
  if (last !== undefined) await flush(work, batch, last)
}

const tableOf = (
  option: string,
  path: string | undefined,
  columns: readonly string[],
  from?: number,
) => (path === undefined ? undefined : openTable({ option, path, columns }, from))

/** What every run of one import has in common. */
interface Plan {
  readonly path: string
  readonly options: ImportOptions
  readonly open: (hash: Hash) => Promise<AsyncIterable<InputRow>>
  /** Digest of all that decides what rows become. */
  readonly map: string
}

const reportColumns = ['line', 'reason']

async function tryAll(
  { options, open }: Plan,
  client: Client,
  isInterrupted: () => boolean,
): Promise<void> {
  const counts = noCounts()
  const isSeen = makeIdSet()
  const toldNow = makeTeller(options, counts)
  const report = tableOf('--report', options.report, reportColumns)
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

const stateOf = ({ path, options: { state } }: Plan): string => {
  if (state !== undefined) return state
  if (path !== standardInputName) return `${path}.import`
  throw usage('--state: expected a file to keep how far it is, since the input has no name')
}

/** The state to begin with. @throws CommandFailure where an import cannot begin or go on */
function beginningOf(plan: Plan, application: string): ImportState {
  const file = stateOf(plan)
  const before = readState(file)
  if (plan.options.resume !== true) {
    if (before !== undefined) {
      const how = before.isDone ? 'is done' : 'was begun, and goes on with --resume'
      throw usage(`an import of this file ${how}, as ${file} says; remove that to import it again`)
    }
    const none = { created: 0, equal: 0, rejected: 0, blank: 0, offset: 0, line: 0, digest: '' }
    const id = hexOf(randomBytes(importIdBytes))
    const { map } = plan
    const ends = { tables: {}, writtenMs: wallMs(), isPending: true, isDone: false }
    return { version: 1, import: id, application, map, ...none, ...ends }
  }
  if (before === undefined) throw usage(`--resume: there is no state at ${file}`)
  if (before.application !== application) {
    throw usage('--resume: expected a key of the application that began, at the same vault')
  }
  if (before.map !== plan.map) throw usage('--resume: the map or an option is not what it was')
  if (!before.isDone && before.isPending && wallMs() - before.writtenMs > importKnownMs) {
    throw new CommandFailure(
      `--resume: the rows behind line ${before.line} may be in the vault already: it ended more ` +
        'than 23 hours ago. Look for them there, and import what is missing as a file of its own',
    )
  }
  return before
}

/** A batch that was refused has done nothing. */
const isRefused = (error: unknown): boolean =>
  error instanceof CofferError && error.status >= 400 && error.status < 500

async function importAll(plan: Plan, client: Client, isInterrupted: () => boolean): Promise<void> {
  const { options } = plan
  const { id: application } = await client.applications.current()
  let state = beginningOf(plan, application)
  const counts: ImportCounts = { ...noCounts(), ...pickCounts(state) }
  if (state.isDone) return tellEnd(options, counts)
  const file = stateOf(plan)
  const toldNow = makeTeller(options, counts)
  const report = tableOf('--report', options.report, reportColumns, state.tables['report'])
  const ids = tableOf('--ids', options.ids, ['line', 'id'], state.tables['ids'])
  const hash = createHash('sha256')
  const save = (changes: Partial<ImportState>): void => {
    state = { ...state, ...changes, writtenMs: wallMs() }
    writeState(file, state)
  }
  const keep = ({ end, line }: Pick<InputRow, 'end' | 'line'>): void => {
    const tables = { report: report?.keep() ?? 0, ids: ids?.keep() ?? 0 }
    save({ ...counts, offset: end, line, digest: digestOf(hash), tables })
    toldNow()
    if (!isInterrupted()) return
    save({ isPending: false })
    throw interrupted(options, line)
  }
  const keyOf = (rows: readonly SentRow[]): string =>
    createHash('sha256')
      .update(`${state.import} ${rows[0]?.line} ${rows.at(-1)?.line}`)
      .digest('hex')
  let isBegun = false
  const deal: Deal = rows => {
    // Until then nothing was begun that could go on.
    if (!isBegun) save({ isPending: true })
    isBegun = true
    return sendRows(client, rows, keyOf)
  }
  const types = new Map<string, Promise<boolean>>()
  const work = { client, deal, counts, report, ids, types, hash, keep, shown: 0 }
  try {
    await dealWithAll(work, await plan.open(hash), state)
    save({ isPending: false, isDone: true })
  } catch (error) {
    if (isBegun && isRefused(error)) save({ isPending: false })
    throw error
  } finally {
    report?.close()
    ids?.close()
  }
  tellEnd(options, counts)
}

const pickCounts = ({ created, equal, rejected, blank }: ImportState) => ({
  created,
  equal,
  rejected,
  blank,
})

function formatOf(path: string, { format }: ImportOptions): 'csv' | 'jsonl' {
  if (format !== undefined) return format
  const name = path.toLowerCase().replace(/\.age$/, '')
  if (['.csv', '.tsv'].includes(extname(name))) return 'csv'
  if (['.jsonl', '.ndjson'].includes(extname(name))) return 'jsonl'
  throw usage('--format: expected csv or jsonl, since the name of the file does not say which')
}

/** Else one would be written over the other. @throws CommandFailure */
function assertApart(path: string, options: ImportOptions): void {
  const named = [path, options.map, options.report, options.ids, options.state, options.identity]
  const paths = named.filter(each => each !== undefined).map(each => resolve(each))
  if (new Set(paths).size === paths.length) return
  throw usage('expected a file of its own for the input and for each option that names one')
}

function planOf(path: string, options: ImportOptions): Plan {
  assertApart(path, options)
  const format = formatOf(path, options)
  const template = options.map === undefined ? undefined : readTemplate(options.map)
  if (format === 'csv' && template === undefined) {
    throw usage('--map: expected a file that says how a row of CSV becomes a token')
  }
  const { codes = false, delimiter, encoding, identity } = options
  if (delimiter !== undefined && !/^[\t -!#-~]$/.test(delimiter)) {
    throw usage('--delimiter: expected one character such as ; or | (a quote is none)')
  }
  const decides = [format, template?.text, codes, delimiter, encoding, identity !== undefined]
  return {
    path,
    options,
    map: createHash('sha256').update(JSON.stringify(decides)).digest('hex'),
    open: async hash =>
      rowsOf(
        await openInput(path, options),
        { template, format, codes, ...(delimiter === undefined ? {} : { delimiter }) },
        bytes => hash.update(bytes),
      ),
  }
}

/** @throws CommandFailure, also where rows were rejected: then all others are in */
async function importTokens(path: string, options: ImportOptions): Promise<void> {
  const plan = planOf(path, options)
  const isOpen = options.identity === undefined && isReadByOthers(path)
  if (isOpen) stderrNow.line(`coffer: others on this machine may read ${path}: chmod 600 it`)
  await withClient(
    options,
    client =>
      untilInterrupted(is => (options.dryRun === true ? tryAll : importAll)(plan, client, is)),
    exactJson,
  )
}

export function addImport(token: Command): void {
  const format = new Option('--format <format>', 'if the name of the file does not say')
  const encoding = new Option('--encoding <encoding>', 'of the file; UTF-8 by default')
  takesCaller(token.command('import <file>'))
    .description('store each row of a file as a token; - is stdin (docs/move-data.md)')
    .option('--map <file>', 'how a row becomes a token: JSON, with expressions on the row')
    .option('--dry-run', 'check every row, and store nothing')
    .option('--report <file>', 'write each rejected line there, and why')
    .option('--ids <file>', 'write the id of the token of each line there')
    .option('--resume', 'go on with an import that ended early')
    .option('--state <file>', 'where it is kept how far it is, if not beside the file')
    .addOption(format.choices(['csv', 'jsonl']))
    .option('--delimiter <character>', 'what parts the columns, if the header does not show it')
    .addOption(encoding.choices(encodings))
    .option('--identity <file>', 'open a file that is sealed with age, with the identity in there')
    .option('--codes', 'send the codes of cards (cvc) as well')
    .action(importTokens)
}
