/**
 * `coffer token delete --where`: what a query finds is counted, confirmed and deleted.
 *
 * Exactly the tokens that were counted are deleted: the walk ends before the question is asked.
 * @module
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { deleteAll } from '../../client/deletions.ts'
import { CofferError, type CallOptions, type Client } from '../../client/index.ts'
import { ownerOnlyFile } from '../../files.ts'
import { answerBytesMax, importRetries } from '../../operation-limits.ts'
import { CommandFailure, usageExitCode } from '../../serve/failure.ts'
import { readSecretLine } from '../../serve/secret-input.ts'
import { sayJson, sayNow, stderrNow, wallMs } from '../../serve/system.ts'
import { readTextInput } from '../input.ts'
import { withClient, type ReachOptions } from '../reach.ts'

export interface DeleteOptions extends ReachOptions {
  readonly where?: string
  readonly yes?: boolean
  readonly receipt?: string
}

const usage = (message: string) => new CommandFailure(message, usageExitCode)

function queryOf({ where = '', yes }: DeleteOptions): string {
  if (where === '-' && yes !== true) {
    throw usage('--where -: expected --yes, since stdin holds the query and no answer')
  }
  const query = (where === '-' ? readTextInput('the query') : where).trim()
  if (query !== '') return query
  throw usage('--where: expected a query such as metadata.customer:17; * finds every token')
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

function tell({ json, receipt: file }: DeleteOptions, receipt: Receipt): void {
  const { deleted, gone, refused } = receipt
  if (file !== undefined) {
    writeFileSync(file, `${JSON.stringify(receipt)}\n`, { flag: 'wx', mode: ownerOnlyFile })
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

export async function deleteWhere(options: DeleteOptions): Promise<void> {
  const query = queryOf(options)
  await withClient(options, async client => {
    const { id: application, tenant_id: tenant } = await client.applications.current()
    const ids = await find(client, query)
    if (options.yes !== true && ids.length > 0) confirm(ids.length)
    const beganMs = wallMs()
    const lists: Lists = { deleted: [], gone: [], refused: [] }
    const finish = (): void =>
      tell(options, {
        query_sha256: createHash('sha256').update(query).digest('hex'),
        application,
        tenant,
        found: ids.length,
        ...lists,
        began_at: timeOf(beganMs),
        ended_at: timeOf(wallMs()),
      })
    try {
      await deleteAll(noting(client, lists), ids, { retries: importRetries })
    } catch (error) {
      finish()
      throw error
    }
    finish()
  })
}
