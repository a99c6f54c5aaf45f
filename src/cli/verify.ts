/**
 * `coffer verify`: looks at all that is in a data folder, and changes nothing of it.
 *
 * First the pages of the file, by plain reads; only what is sound there is given to the engine,
 * which a damaged page can end without a word. Then rows against indexes, then every sealed value.
 * What it prints are kinds of damage with numbers of rows or pages, never a stored value.
 * Source: hardening.md section 6, D8.
 * @module
 */
import { findingsShownMax } from '../limits.ts'
import { examinePages } from '../store/lmdb/damaged-pages.ts'
import { checkRecords, type RowCounts } from '../verify.ts'
import {
  lockDataFolder,
  openKeysOf,
  openStoreOf,
  type FolderOptions,
  type LockedFolder,
} from './data-folder.ts'
import { CommandFailure } from './failure.ts'
import { sayNow } from './system.ts'

export interface VerifyOptions extends FolderOptions {
  readonly json?: boolean
}

/** One damage: of a page of the file, or of a row or what leads to it. */
interface Damage {
  readonly kind: string
  readonly page?: number
  readonly ordinal?: number
}

/**
 * A commit failed, after which a serving process ends; or the page that says which commit is the
 * newest was damaged. What stands is whole, and of the commit before.
 */
const lostCommit = 'last_commit_unknown'

interface Report {
  /** The first `findingsShownMax`. */
  readonly shown: Damage[]
  count: number
  /** Known once every row was read. */
  rows?: RowCounts
}

function add(report: Report, damage: Damage): void {
  report.count += 1
  if (report.shown.length < findingsShownMax) report.shown.push(damage)
}

async function inspect(folder: LockedFolder, report: Report): Promise<void> {
  const { damaged, hasLostCommit } = examinePages(folder.store)
  for (const page of damaged) add(report, { kind: 'page_damaged', page })
  if (hasLostCommit) add(report, { kind: lostCommit })
  if (damaged.length > 0) return
  const store = await openStoreOf(folder, () => {})
  for (const finding of await store.integrity()) add(report, finding)
  const keys = await openKeysOf(store, folder)
  report.rows = checkRecords(keys, store.everyRow(), finding => add(report, finding))
  await store.close()
}

function textOf({ kind, page, ordinal }: Damage): string {
  if (page !== undefined) return `${kind}: page ${page}`
  return ordinal === undefined ? kind : `${kind}: row ${ordinal}`
}

function linesOf({ shown, count, rows }: Report): string[] {
  const lines = shown.map(textOf)
  if (count > shown.length) lines.push(`and ${count - shown.length} more, at least`)
  if (rows === undefined) lines.push('the rows were not all read')
  else
    lines.push(
      `rows: ${Object.entries(rows)
        .map(entry => entry.join(' '))
        .join(', ')}`,
    )
  return lines
}

function print({ json }: VerifyOptions, report: Report): void {
  const { shown, count, rows } = report
  if (json !== true) for (const line of linesOf(report)) sayNow(line)
  else sayNow(JSON.stringify({ damages: shown, more: count - shown.length, rows: rows ?? null }))
}

/** @throws CommandFailure for any damage, and when it could not look at everything */
export async function verify(options: VerifyOptions): Promise<void> {
  const folder = lockDataFolder(options)
  const report: Report = { shown: [], count: 0 }
  try {
    await inspect(folder, report)
  } finally {
    print(options, report)
  }
  if (report.count === 0) return
  const isWhole = report.shown.every(({ kind }) => kind === lostCommit)
  const advice = isWhole
    ? 'is whole up to the commit before the last, whose end is not known: compare with a backup'
    : 'is damaged: restore it from a backup'
  throw new CommandFailure(`the vault in ${options.data} ${advice}`)
}
