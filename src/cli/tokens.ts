/**
 * `coffer token …`: operations on tokens, as a caller of the vault.
 * @module
 */
import { Option, type Command } from 'commander'
import type {
  Client,
  NewToken,
  Token,
  TokenChanges,
  TokenFilter,
  TokenType,
} from '../client/index.ts'
import { fromPlain, isJsonObject, printJson, type Json, type JsonObject } from '../lib/json/json.ts'
import { tokenTypeNames } from '../rules/token-types.ts'
import { usage } from '../server/process/failure.ts'
import { sayNow } from '../server/process/system.ts'
import { exactJson, wholeToken } from './exact-json.ts'
import { addCounts } from './bulk/counts.ts'
import { deleteWhere, type DeleteOptions } from './bulk/delete-where.ts'
import { addExport } from './bulk/export.ts'
import { addImport } from './bulk/import.ts'
import { addReindex } from './bulk/reindex.ts'
import { readJsonInput, readTextInput } from './input.ts'
import { takesCaller, withClient, type ReachOptions } from './reach.ts'
import { makeLongTable, shown } from './table.ts'

/** Fields of a token beside its data, which comes on standard input. */
interface TokenFields {
  readonly id?: string
  readonly type?: string
  readonly container?: string
  readonly metadata?: readonly string[]
  readonly expiresAt?: string
  readonly deduplicate?: boolean
}

interface FilterOptions extends ReachOptions {
  readonly id?: readonly string[]
  readonly type?: readonly string[]
  readonly container?: readonly string[]
  readonly metadata?: readonly string[]
  readonly limit?: number
}

interface LimitOptions extends ReachOptions {
  readonly limit?: number
}

/** @throws CommandFailure that repeats no value */
function pairsOf(given: readonly string[] = []): Readonly<Record<string, string>> {
  const pairs = given.map((text, at) => {
    const middle = text.indexOf('=')
    if (middle < 1) throw usage(`--metadata: expected name=value; number ${at + 1} is none`)
    return [text.slice(0, middle), text.slice(middle + 1)] as const
  })
  return Object.fromEntries(pairs)
}

/** Takes options that were given: the vault has the defaults for the others. */
const givenOf = ({ id, container, metadata, expiresAt, deduplicate }: TokenFields) => ({
  ...(id === undefined ? {} : { id }),
  ...(container === undefined ? {} : { containers: [container] }),
  ...(metadata === undefined ? {} : { metadata: pairsOf(metadata) }),
  ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
  ...(deduplicate === undefined ? {} : { deduplicate_token: deduplicate }),
})

function assertObject(value: Json): asserts value is JsonObject {
  if (isJsonObject(value)) return
  throw usage('standard input: expected a JSON object, as the interface takes it')
}

/** Sent unchanged: `exactJson` prints exactly the input. */
const sent = <T>(request: JsonObject): T => request as T

/** With a type, standard input is the data; without one it is the whole request. */
function newTokenOf(fields: TokenFields): NewToken {
  const { type } = fields
  const given = givenOf(fields)
  if (type !== undefined) {
    const opaque = new Set(['data'])
    const request = fromPlain({ type, data: readJsonInput('the data'), ...given }, opaque)
    assertObject(request)
    return sent(request)
  }
  if (Object.keys(given).length > 0) throw usage('expected --type beside the other options')
  const request = readJsonInput('the token')
  assertObject(request)
  return sent(request)
}

function tell({ json }: ReachOptions, token: Token): void {
  const whole = wholeToken(token)
  if (json === true) return sayNow(printJson(whole))
  for (const [name, value] of whole) {
    const text = typeof value === 'string' ? value : printJson(value)
    sayNow(shown(`${name.replaceAll('_', ' ').padEnd(24)}${text}`))
  }
}

/** Numbers and members of the caller stay exactly as they were sent and answered. */
const exactly = <T>(options: ReachOptions, use: (client: Client) => Promise<T>): Promise<T> =>
  withClient(options, use, exactJson)

const createToken = (options: TokenFields & ReachOptions): Promise<void> =>
  exactly(options, async ({ tokens }) => tell(options, await tokens.create(newTokenOf(options))))

const getToken = (id: string, options: ReachOptions): Promise<void> =>
  exactly(options, async ({ tokens }) => tell(options, await tokens.get(id)))

/** Reads a merge patch from standard input, as the interface takes it (RFC 7386). */
const updateToken = (id: string, options: ReachOptions): Promise<void> =>
  exactly(options, async ({ tokens }) => {
    const changes = readJsonInput('the changes')
    assertObject(changes)
    tell(options, await tokens.update(id, sent<TokenChanges>(changes)))
  })

/** Deletes one token, or with `where` those that a query finds. */
function deleteTokens(id: string | undefined, options: DeleteOptions): Promise<void> {
  const { where } = options
  if ((id === undefined) === (where === undefined)) throw usage('expected an id, or --where')
  return id === undefined ? deleteWhere(options) : deleteToken(id, options)
}

const deleteToken = (id: string, options: ReachOptions): Promise<void> =>
  withClient(options, async ({ tokens }) => {
    await tokens.delete(id)
    sayNow(options.json === true ? JSON.stringify({ id }) : 'The token is deleted.')
  })

async function* upTo<T>(limit: number, walk: AsyncIterable<T>): AsyncGenerator<T, void> {
  let left = limit
  for await (const item of walk) {
    yield item
    left -= 1
    if (left === 0) return
  }
}

/** One object a line, or a table; a list of any length is never held as a whole. */
async function tellAll(
  { json, limit = Number.POSITIVE_INFINITY }: LimitOptions,
  walk: AsyncIterable<Token>,
): Promise<void> {
  const table = makeLongTable(['id', 'type', 'container', 'created_at', 'data'])
  for await (const token of upTo(limit, walk)) {
    if (json === true) {
      sayNow(printJson(wholeToken(token)))
      continue
    }
    const { data, containers } = token
    const text = data === undefined ? undefined : printJson(data as Json)
    table.add({ ...token, container: containers?.[0], data: text })
  }
  if (json !== true) table.end()
}

const filterOf = ({ id, type, container, metadata }: FilterOptions): TokenFilter => ({
  ...(id === undefined ? {} : { id }),
  // The vault refuses types that it does not know.
  ...(type === undefined ? {} : { type: type as readonly TokenType[] }),
  ...(container === undefined ? {} : { container }),
  ...(metadata === undefined ? {} : { metadata: pairsOf(metadata) }),
})

const ask = (options: LimitOptions, walk: (client: Client) => AsyncIterable<Token>) =>
  exactly(options, client => tellAll(options, walk(client)))

const listTokens = (options: FilterOptions): Promise<void> =>
  ask(options, ({ tokens }) => tokens.list(filterOf(options)))

/** Reads the query from standard input: it may hold a card number. */
const searchTokens = (options: LimitOptions): Promise<void> =>
  ask(options, ({ tokens }) => tokens.search(readTextInput('the query').trim()))

/** Reads a count from 1 on. @throws CommandFailure that does not repeat the text */
function readLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw usage('--limit: expected a number from 1 on')
}

const takesLimit = (command: Command): Command =>
  takesCaller(command).option('--limit <number>', 'end after so many', readLimit)

const metadataOption = ['--metadata <name=value...>', 'all of these pairs'] as const

function addCreateToken(token: Command): void {
  const type = new Option('--type <type>', 'then stdin is the data alone, as JSON')
  takesCaller(token.command('create'))
    .description('store what stands on stdin, and print its token')
    .addOption(type.choices(tokenTypeNames))
    .option('--id <id>', 'an id, or an expression that gives one')
    .option('--container <path>', 'such as /pci/high/')
    .option(...metadataOption)
    .option('--expires-at <moment>', 'such as 2030-01-31T12:00:00Z')
    .option('--deduplicate', 'give the token that holds the same, if there is one')
    .action(createToken)
}

function addListTokens(token: Command): void {
  takesLimit(token.command('list'))
    .description('print tokens, newest first')
    .option('--id <id...>', 'any of these')
    .option('--type <type...>', 'any of these')
    .option('--container <path...>', 'any of these, with all below them')
    .option(...metadataOption)
    .action(listTokens)
}

function addDeleteTokens(token: Command): void {
  takesCaller(token.command('delete [id]'))
    .description('delete a token, or all that a query finds')
    .option('--where <query>', 'what to delete, after a count and a question; - is stdin')
    .option('--yes', 'do not ask')
    .option('--receipt <file>', 'write there what was deleted')
    .action(deleteTokens)
}

export function addToken(program: Command): void {
  const token = program.command('token').description('use tokens, as callers do')
  addCreateToken(token)
  takesCaller(token.command('get <id>'))
    .description('print a token, as the key may see it')
    .action(getToken)
  addListTokens(token)
  takesLimit(token.command('search'))
    .description('print tokens that the query on stdin finds')
    .action(searchTokens)
  takesCaller(token.command('update <id>'))
    .description('merge the JSON on stdin into a token')
    .action(updateToken)
  addDeleteTokens(token)
  addImport(token)
  addExport(token)
  addReindex(token)
  addCounts(token)
}
