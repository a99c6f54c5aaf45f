/**
 * `coffer token delete --where`: what a query finds is counted, confirmed and deleted.
 *
 * Exactly the tokens that were counted are deleted: the walk ends before the question is asked.
 * @module
 */
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync } from 'node:fs'
import { deleteAll } from '../../client/deletions.ts'
import { CofferError, type CallOptions, type Client } from '../../client/index.ts'
import { writeWhole } from '../../files.ts'
import { answerBytesMax, importRetries } from '../../operation-limits.ts'
import { CommandFailure, usageExitCode } from '../../serve/failure.ts'
import { openNewFile, type NewFile } from '../../serve/regular-files.ts'
import { readSecretLine } from '../../serve/secret-input.ts'
import { sayJson, sayNow, stderrNow, wallMs } from '../../serve/system.ts'
import { withClient, type ReachOptions } from '../reach.ts'
import { readQuery, type WhereOptions } from './query.ts'

export interface DeleteOptions extends ReachOptions, WhereOptions {
  readonly yes?: boolean
  readonly receipt?: string
}

const usage = (message: string) => new CommandFailure(message, usageExitCode)

function queryOf(options: DeleteOptions): string {
  if (options.where === '-' && options.yes !== true) {
    throw usage('--where -: expected --yes, since stdin holds the query and no answer')
  }
  return readQuery(options)
}

async function find(client: Client, query: string): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const { id } of client.tokens.search(query)) ids.push(id)
  return ids
}

const standardInput = 0

/** @throws CommandFailure unless the count is typed at a terminal */
function confirm(count: number): void {
  if (process.stdin.isTTY !== true) {
    throw usage(`${count} tokens were found: expected a terminal to ask at, or --yes`)
  }
  stderrNow.write(`${count} tokens will be deleted for good. Type ${count} to go on: `)
  const bytes = readSecretLine(standardInput, answerBytesMax)
  stderrNow.write('\n')
  const answer = Buffer.from(bytes ?? [])
    .toString()
    .trim()
  if (answer !== String(count)) throw new CommandFailure('nothing was deleted')
}

interface Receipt {
  readonly query_sha256: string
  readonly application: string
  readonly tenant: string
  readonly found: number
  readonly deleted: readonly string[]
  /** Somebody else was faster, or it expired. */
  readonly gone: readonly string[]
  readonly refused: readonly string[]
  readonly began_at: string
  readonly ended_at: string
}

type Lists = Record<'deleted' | 'gone' | 'refused', string[]>

/** Deletes one, and notes what became of it. */
const noting =
  ({ tokens }: Client, lists: Lists) =>
  async (id: string, options: CallOptions): Promise<void> => {
    try {
      await tokens.delete(id, options)
      lists.deleted.push(id)
    } catch (error) {
      const code = error instanceof CofferError ? error.code : undefined
      if (code === 'not_found') lists.gone.push(id)
      else if (code === 'forbidden') lists.refused.push(id)
      else throw error
    }
  }

const timeOf = (ms: number): string => new Date(ms).toISOString()

function openReceipt(path: string): NewFile | undefined {
  try {
    return openNewFile(path)
  } catch {
    throw usage(`--receipt: it cannot be written to ${path}: check that its folder exists`)
  }
}

/**
 * Made before anything is deleted, of which nobody could tell later; taken away where nothing was.
 * @throws CommandFailure where there is a file already
 */
async function withReceipt(
  path: string | undefined,
  use: (receipt: NewFile | undefined) => Promise<void>,
): Promise<void> {
  if (path === undefined) return use(undefined)
  const made = openReceipt(path)
  if (made === undefined) throw usage(`--receipt: expected a new file; there is one at ${path}`)
  try {
    await use(made)
  } finally {
    if (fstatSync(made.file).size === 0) made.remove()
    closeSync(made.file)
  }
}

function tell({ json }: DeleteOptions, receipt: Receipt, made: NewFile | undefined): void {
  const { deleted, gone, refused } = receipt
  if (made !== undefined) {
    writeWhole(made.file, Buffer.from(`${JSON.stringify(receipt)}\n`))
    fsyncSync(made.file)
  }
  if (json === true) sayJson(receipt)
  else {
    sayNow(
      `${deleted.length} tokens were deleted.`,
      ...(gone.length === 0
        ? []
        : [`${gone.length} were gone before, or the key may not see them.`]),
    )
  }
  if (refused.length === 0) return
  throw new CommandFailure(`${refused.length} tokens were not deleted: the key may not`, 3)
}

async function deleteFound(
  client: Client,
  query: string,
  options: DeleteOptions,
  made: NewFile | undefined,
): Promise<void> {
  const { id: application, tenant_id: tenant } = await client.applications.current()
  const ids = await find(client, query)
  if (options.yes !== true && ids.length > 0) confirm(ids.length)
  const began_at = timeOf(wallMs())
  const lists: Lists = { deleted: [], gone: [], refused: [] }
  const finish = (): void => {
    const query_sha256 = createHash('sha256').update(query).digest('hex')
    const facts = { query_sha256, application, tenant, found: ids.length }
    tell(options, { ...facts, ...lists, began_at, ended_at: timeOf(wallMs()) }, made)
  }
  try {
    await deleteAll(noting(client, lists), ids, { retries: importRetries })
  } catch (error) {
    finish()
    throw error
  }
  finish()
}

/** @throws CommandFailure; the receipt then says what was deleted before */
export async function deleteWhere(options: DeleteOptions): Promise<void> {
  const query = queryOf(options)
  await withReceipt(options.receipt, made =>
    withClient(options, client => deleteFound(client, query, options, made)),
  )
}
