/**
 * The plan of an import, from its command line.
 * @module
 */
import { createHash, type Hash } from 'node:crypto'
import { extname, resolve } from 'node:path'
import { usage } from '../../server/process/failure.ts'
import type { ReachOptions } from '../reach.ts'
import { openInput, type InputOptions } from './import-input.ts'
import { openTable, type ReportFile } from './import-files.ts'
import { rowsOf, type InputRow } from './import-rows.ts'
import { readTemplate } from './template.ts'

export interface ImportOptions extends ReachOptions, InputOptions {
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

/** Facts that every run of one import shares. */
export interface ImportPlan {
  readonly path: string
  readonly options: ImportOptions
  readonly open: (hash: Hash) => Promise<AsyncIterable<InputRow>>
  /** Digest of everything that decides how rows become tokens. */
  readonly map: string
}

function formatOf(path: string, { format }: ImportOptions): 'csv' | 'jsonl' {
  if (format !== undefined) return format
  const name = path.toLowerCase().replace(/\.age$/, '')
  if (['.csv', '.tsv'].includes(extname(name))) return 'csv'
  if (['.jsonl', '.ndjson'].includes(extname(name))) return 'jsonl'
  throw usage('--format: expected csv or jsonl, since the name of the file does not say which')
}

/** Otherwise one would overwrite the other. @throws CommandFailure */
function assertApart(path: string, options: ImportOptions): void {
  const named = [path, options.map, options.report, options.ids, options.state, options.identity]
  const paths = named.filter(each => each !== undefined).map(each => resolve(each))
  if (new Set(paths).size === paths.length) return
  throw usage('expected a file of its own for the input and for each option that names one')
}

/** @throws CommandFailure for invalid options */
export function planOf(path: string, options: ImportOptions): ImportPlan {
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

/** Returns a table that a run writes; `undefined` if none is asked for. */
const tableOf = (
  option: string,
  path: string | undefined,
  columns: readonly string[],
  from?: number,
): ReportFile | undefined =>
  path === undefined ? undefined : openTable({ option, path, columns }, from)

/** @param from bytes of it that stay */
export const openReport = ({ options }: ImportPlan, from?: number): ReportFile | undefined =>
  tableOf('--report', options.report, ['line', 'reason'], from)

/** @param from bytes of it that stay */
export const openIds = ({ options }: ImportPlan, from?: number): ReportFile | undefined =>
  tableOf('--ids', options.ids, ['line', 'id'], from)
