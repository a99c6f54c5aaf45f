/**
 * `coffer token delete --where`: counts, confirms and deletes the tokens that a query finds.
 *
 * Exactly the tokens that were counted are deleted: the walk ends before the question is asked.
 * @module
 */
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync } from 'node:fs'
import { deleteAll } from '../../client/deletions.ts'
import { CofferError, type CallOptions, type Client } from '../../client/index.ts'
import { writeWhole } from '../../lib/files.ts'
import { answerBytesMax, deletedIdCharsMax, importRetries } from '../../limits/operation-limits.ts'
import { CommandFailure, usage } from '../../server/process/failure.ts'
import { openNewFile } from '../../server/folder/regular-files.ts'
import { readSecretLine } from '../../server/keys/secret-input.ts'
import { sayJson, sayNow, stderrNow, wallMs } from '../../server/process/system.ts'
import { withClient, type ReachOptions } from '../reach.ts'
import { counted } from '../table.ts'
import { untilInterrupted } from './interrupt.ts'
import { withFile } from './named-file.ts'
import { readQuery, type WhereOptions } from './where-query.ts'

export interface DeleteOptions extends ReachOptions, WhereOptions {
  readonly yes?: boolean
  readonly receipt?: string
}

function queryOf(options: DeleteOptions): string {
  if (options.where === '-' && options.yes !== true) {
    throw usage('--where -: expected --yes, since stdin holds the query and no answer')
  }
  return readQuery(options)
}

const tooMany = new CommandFailure(
  'more tokens are found than one command deletes: nothing was deleted; narrow the query',
)

/** @throws CommandFailure */
async function find(client: Client, query: string): Promise<readonly string[]> {
  const ids: string[] = []
  let chars = 0
  for await (const { id } of client.tokens.search(query)) {
    ids.push(id)
    chars += id.length
    if (chars > deletedIdCharsMax) throw tooMany
  }
  return ids
}

const was = ['was', 'were'] as const
const standardInput = 0

/** @throws CommandFailure unless the count is typed at a terminal */
function confirm(count: number): void {
  if (process.stdin.isTTY !== true) {
    throw usage(`${counted(count, 'token', was)} found: expected a terminal to ask at, or --yes`)
  }
  stderrNow.write(`${counted(count, 'token')} will be deleted for good. Type ${count} to go on: `)
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
  /** Another caller was faster, or it expired. */
  readonly gone: readonly string[]
  readonly refused: readonly string[]
  readonly began_at: string
  readonly ended_at: string
}

type Lists = Record<'deleted' | 'gone' | 'refused', string[]>

function* until(isInterrupted: () => boolean, ids: readonly string[]): Generator<string, void> {
  for (const id of ids) {
    if (isInterrupted()) return
    yield id
  }
}

/** Deletes one, and notes the outcome. */
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

/**
 * Made before any delete, because nobody could tell later; removed if nothing was deleted.
 * @throws CommandFailure if there is a file already, and nothing is deleted
 */
async function withReceipt(
  path: string | undefined,
  use: (write: (receipt: Receipt) => void) => Promise<void>,
): Promise<void> {
  if (path === undefined) return use(() => {})
  const made = withFile('--receipt', path, () => openNewFile(path))
  if (made === undefined) throw usage(`--receipt: expected a new file; there is one at ${path}`)
  try {
    await use(receipt =>
      withFile('--receipt', path, () => {
        writeWhole(made.file, Buffer.from(`${JSON.stringify(receipt)}\n`))
        fsyncSync(made.file)
      }),
    )
  } finally {
    if (fstatSync(made.file).size === 0) made.remove()
    closeSync(made.file)
  }
}

function tell({ json }: DeleteOptions, receipt: Receipt): void {
  const { found, deleted, gone } = receipt
  if (json === true) return sayJson(receipt)
  if (found === 0) return sayNow('No token is found that this key may see: nothing was deleted.')
  sayNow(
    `${counted(deleted.length, 'token', was)} deleted.`,
    ...(gone.length === 0
      ? []
      : [`${counted(gone.length, 'token', was)} gone before, or the key may not see them.`]),
  )
}

/** @throws CommandFailure if some of them are still there */
function assertAll({ found, deleted, gone, refused }: Receipt): void {
  if (refused.length > 0) {
    throw new CommandFailure(
      `${counted(refused.length, 'token', was)} not deleted: the key may not`,
      3,
    )
  }
  const left = found - deleted.length - gone.length
  if (left > 0)
    throw new CommandFailure(`interrupted: ${counted(left, 'token', ['is', 'are'])} left`)
}

interface Ending {
  readonly client: Client
  readonly query: string
  readonly ids: readonly string[]
  readonly isInterrupted: () => boolean
  readonly write: (receipt: Receipt) => void
}

async function deleteFound(options: DeleteOptions, ending: Ending): Promise<void> {
  const { client, query, ids, isInterrupted, write } = ending
  const { id: application, tenant_id: tenant } = await client.applications.current()
  const beganMs = wallMs()
  const lists: Lists = { deleted: [], gone: [], refused: [] }
  const finish = (): Receipt => {
    const receipt = {
      query_sha256: createHash('sha256').update(query).digest('hex'),
      application,
      tenant,
      found: ids.length,
      ...lists,
      began_at: timeOf(beganMs),
      ended_at: timeOf(wallMs()),
    }
    write(receipt)
    tell(options, receipt)
    return receipt
  }
  try {
    const each = until(isInterrupted, ids)
    await deleteAll(noting(client, lists), each, { retries: importRetries })
  } catch (error) {
    finish()
    throw error
  }
  assertAll(finish())
}

export async function deleteWhere(options: DeleteOptions): Promise<void> {
  const query = queryOf(options)
  await withClient(options, async client => {
    const ids = await find(client, query)
    if (options.yes !== true && ids.length > 0) confirm(ids.length)
    await withReceipt(options.receipt, write =>
      untilInterrupted(isInterrupted =>
        deleteFound(options, { client, query, ids, isInterrupted, write }),
      ),
    )
  })
}
