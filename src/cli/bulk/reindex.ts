/**
 * `coffer token reindex`: gives the tokens that a query finds other search indexes.
 *
 * Each token is changed by an update of its own, which the vault evaluates on the data as they are
 * at that moment: a change by others is never lost, and a token that has these indexes already is
 * left alone, so a command that ended early can be run again. Updates keep the place of a token in
 * the walk, so even if they change the answer to the query, no token is met twice or missed.
 * Source: decision, docs/search.md.
 * @module
 */
import type { Command } from 'commander'
import { CofferError, type Client, type ErrorCode, type Token } from '../../client/index.ts'
import { ApiError } from '../../lib/errors.ts'
import { compileTemplate } from '../../language/expression/compile.ts'
import { pageSizeDefault, searchIndexesMax } from '../../limits/limits.ts'
import {
  bulkToldMs,
  importRetries,
  reindexedAtOnce,
  reindexExamplesMax,
} from '../../limits/operation-limits.ts'
import { tokenTypeOf } from '../../rules/token-types.ts'
import { CommandFailure, usage } from '../../server/process/failure.ts'
import { elapsedMs, sayJson, sayNow, stderrNow } from '../../server/process/system.ts'
import { answerOf, isCounted } from '../answer-shapes.ts'
import { asMany } from '../bounded-walk.ts'
import { takesCaller, withClient, type ReachOptions } from '../reach.ts'
import { counted } from '../table.ts'
import { readQuery, type WhereOptions } from './where-query.ts'

interface ReindexOptions extends ReachOptions, WhereOptions {
  readonly index?: readonly string[]
  readonly default?: boolean
  readonly none?: boolean
  readonly dryRun?: boolean
}

/** @throws CommandFailure before any request to the vault */
function assertExpressions(expressions: readonly string[]): void {
  if (expressions.length > searchIndexesMax) {
    throw usage(`--index: expected at most ${searchIndexesMax} expressions`)
  }
  for (const [at, expression] of expressions.entries()) {
    try {
      compileTemplate(expression, `--index, number ${at + 1}`, 'search_index')
    } catch (error) {
      throw error instanceof ApiError ? usage(error.message) : error
    }
  }
}

/** @returns `undefined` for a type that this program does not know */
type IndexesOf = (token: Token) => readonly string[] | undefined

function readIndexes({ index, default: isDefault, none }: ReindexOptions): IndexesOf {
  if ([index, isDefault, none].filter(given => given !== undefined).length !== 1) {
    throw usage('expected one of --index, --default and --none')
  }
  if (isDefault === true) return ({ type }) => tokenTypeOf(type)?.defaultSearchIndexes
  const expressions = index ?? []
  assertExpressions(expressions)
  return () => expressions
}

interface Refusal {
  readonly code: ErrorCode
  count: number
  /** The first of them. */
  readonly ids: string[]
}

interface Progress {
  readonly found: number
  changed: number
  unchanged: number
  /** Deleted or expired meanwhile, or out of reach of `token:update`. */
  gone: number
  /** By the vault's reason, which repeats no value. */
  readonly refused: Map<string, Refusal>
}

function refuse({ refused }: Progress, id: string, code: ErrorCode, reason: string): void {
  const refusal = refused.get(reason) ?? { code, count: 0, ids: [] }
  refusal.count += 1
  if (refusal.ids.length < reindexExamplesMax) refusal.ids.push(id)
  refused.set(reason, refusal)
}

const isOfToken = (code: ErrorCode): boolean =>
  ['forbidden', 'invalid_request', 'conflict'].includes(code)

async function change(
  { tokens }: Client,
  id: string,
  indexes: readonly string[],
  progress: Progress,
): Promise<void> {
  try {
    await tokens.update(id, { search_indexes: indexes }, { retries: importRetries })
    progress.changed += 1
  } catch (error) {
    if (!(error instanceof CofferError)) throw error
    if (error.code === 'not_found') progress.gone += 1
    else if (isOfToken(error.code)) refuse(progress, id, error.code, error.message)
    else throw error
  }
}

async function reindexOne(
  client: Client,
  token: Token,
  indexesOf: IndexesOf,
  progress: Progress,
  isDry: boolean,
): Promise<void> {
  const { id, search_indexes: standing } = token
  const indexes = indexesOf(token)
  if (indexes === undefined) {
    refuse(progress, id, 'invalid_request', 'a type that this coffer does not know')
  } else if (JSON.stringify(indexes) === JSON.stringify(standing)) progress.unchanged += 1
  else if (isDry) progress.changed += 1
  else await change(client, id, indexes, progress)
}

const seenOf = ({ changed, unchanged, gone, refused }: Progress): number =>
  [...refused.values()].reduce((sum, { count }) => sum + count, changed + unchanged + gone)

/** Runs a few at a time; the first failure ends it, once the calls in progress are over. */
async function eachOf(
  walk: AsyncGenerator<Token, void>,
  use: (token: Token) => Promise<void>,
): Promise<void> {
  let hasFailed = false
  const work = async (): Promise<void> => {
    try {
      for (let next = await walk.next(); next.done !== true; next = await walk.next()) {
        await use(next.value)
        if (hasFailed) return
      }
    } catch (error) {
      hasFailed = true
      throw error
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: reindexedAtOnce }, work))
  const failure = ends.find(end => end.status === 'rejected')
  if (failure !== undefined) throw failure.reason
}

async function reindexAll(
  client: Client,
  query: string,
  indexesOf: IndexesOf,
  progress: Progress,
  { json, dryRun }: ReindexOptions,
): Promise<void> {
  let toldMs = elapsedMs()
  // As many of the largest tokens as fit into one answer.
  const found = client.tokens.search({ query, size: pageSizeDefault })
  await eachOf(asMany(progress.found, found), async token => {
    await reindexOne(client, token, indexesOf, progress, dryRun === true)
    if (json === true || elapsedMs() - toldMs < bulkToldMs) return
    toldMs = elapsedMs()
    stderrNow.line(`${seenOf(progress)} of ${progress.found} tokens`)
  })
}

function tell({ json, dryRun }: ReindexOptions, progress: Progress): void {
  const { found, changed, unchanged, gone } = progress
  const refused = [...progress.refused].map(([reason, { count, ids }]) => ({ reason, count, ids }))
  if (json === true) {
    const counts = { found, changed, unchanged, gone, refused }
    return sayJson({ dry_run: dryRun === true, ...counts })
  }
  const verb = dryRun === true ? 'would get' : 'got'
  sayNow(
    `${counted(changed, 'token')} ${verb} these search indexes; ${unchanged} had them before.`,
    ...(gone === 0 ? [] : [`${gone} were gone meanwhile, or the key may not change them.`]),
  )
  for (const { reason, count, ids } of refused) {
    const tokens = counted(count, 'token', ['was', 'were'])
    stderrNow.line(`${tokens} refused, such as ${ids[0]}: ${reason}`)
  }
}

/** Otherwise each token would be requested in vain. */
async function assertMayUpdate({ applications }: Client): Promise<void> {
  const { permissions, rules } = await applications.current()
  const all = [...permissions, ...rules.flatMap(rule => rule.permissions)]
  if (all.includes('token:update')) return
  throw new CommandFailure('expected a key with token:update, beside token:search', 3)
}

function assertNoneRefused({ refused }: Progress): void {
  const all = [...refused.values()]
  if (all.length === 0) return
  const count = all.reduce((sum, each) => sum + each.count, 0)
  const isForbidden = all.some(({ code }) => code === 'forbidden')
  const tokens = counted(count, 'token', ['was', 'were'])
  throw new CommandFailure(`${tokens} left unchanged`, isForbidden ? 3 : 6)
}

/** @throws CommandFailure; what was changed stays changed, and the command may be run again */
async function reindexTokens(options: ReindexOptions): Promise<void> {
  const indexesOf = readIndexes(options)
  const query = readQuery(options)
  await withClient(options, async client => {
    await assertMayUpdate(client)
    const { pagination } = await answerOf(isCounted, client.tokens.searchPage({ query, size: 1 }))
    const found = pagination.total_items
    const progress: Progress = { found, changed: 0, unchanged: 0, gone: 0, refused: new Map() }
    try {
      await reindexAll(client, query, indexesOf, progress, options)
    } catch (error) {
      tell(options, progress)
      throw error
    }
    tell(options, progress)
    assertNoneRefused(progress)
  })
}

export function addReindex(token: Command): void {
  takesCaller(token.command('reindex'))
    .description('give all that a query finds other search indexes')
    .option('--where <query>', 'what to change; - is stdin')
    .option('--index <expression...>', 'these indexes, in place of those that there are')
    .option('--default', 'those that its type has by default')
    .option('--none', 'no indexes')
    .option('--dry-run', 'count, and change nothing')
    .action(reindexTokens)
}
