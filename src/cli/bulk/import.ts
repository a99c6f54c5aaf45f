/**
 * `coffer token import`: rows of a file become tokens of a running vault, each once.
 *
 * Rows go in batches, each under an idempotency key that follows from the import and the lines: a
 * batch sent before the process was killed gets its first answer again, and creates nothing twice.
 * @module
 */
import { Option, type Command } from 'commander'
import { createHash } from 'node:crypto'
import { CofferError, type Client } from '../../client/index.ts'
import { hexOf } from '../../lib/bytes.ts'
import { importIdBytes, importKnownMs } from '../../limits/operation-limits.ts'
import { CommandFailure, usage } from '../../server/process/failure.ts'
import { randomBytes, stderrNow, wallMs } from '../../server/process/system.ts'
import { exactJson } from '../exact-json.ts'
import { takesCaller, withClient } from '../reach.ts'
import { assertAllHandled, dealWithAll, digestOf, type Deal } from './import-batches.ts'
import { readState, writeState, type ImportState } from './import-files.ts'
import { encodings, isReadByOthers, standardInputName } from './import-input.ts'
import { openIds, openReport, planOf, type ImportOptions, type ImportPlan } from './import-plan.ts'
import type { InputRow } from './import-rows.ts'
import { interrupted, makeTeller, noCounts, tellEnd, type ImportCounts } from './import-told.ts'
import { tryAll } from './import-trial.ts'
import { untilInterrupted } from './interrupt.ts'
import { sendRows, type SentRow } from './send-rows.ts'

const stateOf = ({ path, options: { state } }: ImportPlan): string => {
  if (state !== undefined) return state
  if (path !== standardInputName) return `${path}.import`
  throw usage('--state: expected a file to keep how far it is, since the input has no name')
}

/** Returns the state to begin with. @throws CommandFailure if an import cannot begin or continue */
function beginningOf(plan: ImportPlan, application: string): ImportState {
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
  if (before === undefined) {
    throw usage(`--resume: there is no state at ${file}: leave out --resume to begin`)
  }
  if (before.application !== application) {
    throw usage('--resume: expected a key of the application that began, at the same vault')
  }
  if (before.map !== plan.map) {
    throw usage('--resume: the map or an option has changed: use those that the import began with')
  }
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

async function importAll(
  plan: ImportPlan,
  client: Client,
  isInterrupted: () => boolean,
): Promise<void> {
  const { options } = plan
  const { id: application } = await client.applications.current()
  let state = beginningOf(plan, application)
  const counts: ImportCounts = { ...noCounts(), ...pickCounts(state) }
  const hash = createHash('sha256')
  if (state.isDone) {
    await assertAllHandled(await plan.open(hash), hash, state)
    return tellEnd(options, counts)
  }
  const file = stateOf(plan)
  const toldNow = makeTeller(options, counts)
  const report = openReport(plan, state.tables['report'])
  const ids = openIds(plan, state.tables['ids'])
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
    // Until then nothing was begun that could continue.
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

/** @throws CommandFailure, also if rows were rejected: then all others are in */
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
