/**
 * `coffer token export`: all tokens that a key may read, each a line that `import` takes back,
 * sealed to a recipient and stored nowhere else.
 * @module
 */
import type { Command } from 'commander'
import { createHash, type Hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Client, Token, TokenType } from '../../client/index.ts'
import { isJsonObject, printJson, type Json } from '../../lib/json/json.ts'
import { bulkToldMs } from '../../limits/operation-limits.ts'
import { decideTransform, type Grants } from '../../rules/access.ts'
import { tokenTypeNames, tokenTypeOf } from '../../rules/token-types.ts'
import { CommandFailure, usage } from '../../server/process/failure.ts'
import { elapsedMs, sayJson, sayNow, stderrNow } from '../../server/process/system.ts'
import { takesCaller, withClient, type ReachOptions } from '../reach.ts'
import { counted } from '../table.ts'
import { exactJson } from '../exact-json.ts'
import { untilInterrupted } from './interrupt.ts'
import { encrypterFor, writeSealed } from './sealed-file.ts'

interface ExportOptions extends ReachOptions {
  readonly recipient?: readonly string[]
  readonly out?: string
  readonly container?: readonly string[]
  readonly type?: readonly string[]
}

interface Exported {
  tokens: number
  /** Number of card codes that were left out. */
  codes: number
  readonly hash: Hash
  readonly isInterrupted: () => boolean
}

function withoutCode(data: Json, told: Exported): Json {
  if (!isJsonObject(data) || !data.has('cvc')) return data
  told.codes += 1
  return new Map([...data].filter(([name]) => name !== 'cvc'))
}

/**
 * Prints a token as it is answered. A token without a mask says so: otherwise it would get the one
 * of its type when it comes back.
 */
function lineOf(token: Token, told: Exported): string {
  const { _extras, ...members } = token
  const data = (token.data ?? null) as Json
  const shown = token.type === 'card' ? withoutCode(data, told) : data
  const line = { mask: null, ...members, data: shown }
  const texts = Object.entries(line).map(([name, value]) => {
    const text = printJson(toJson(value))
    return `${JSON.stringify(name)}:${text}`
  })
  told.tokens += 1
  return `{${texts.join(',')}}\n`
}

const toJson = (value: unknown): Json => value as Json

/** Masked data would be lost data. @throws CommandFailure that names no token */
function assertRevealed(grants: Grants, { id, containers = [] }: Token): void {
  if (decideTransform(grants, 'token:read', { id, containers }) === 'reveal') return
  const where = containers[0] ?? '/'
  throw new CommandFailure(
    `the key sees tokens in ${where} masked, and an export holds them whole: give its ` +
      'application a rule with token:read and the transform reveal there, or say --container',
    3,
  )
}

/** @throws CommandFailure for an unknown type: nothing would be found */
function assertTypes(types: readonly string[]): void {
  if (types.every(type => tokenTypeOf(type) !== undefined)) return
  throw usage(`--type: expected any of ${tokenTypeNames.join(', ')}`)
}

async function* linesOf(
  client: Client,
  begun: HeldGrants,
  { container, type, json }: ExportOptions,
  told: Exported,
): AsyncGenerator<string, void> {
  // `assertTypes` has checked each.
  const types = type as readonly TokenType[] | undefined
  const filter = { ...(container && { container }), ...(types && { type: types }) }
  let toldMs = elapsedMs()
  for await (const token of client.tokens.list(filter)) {
    assertRevealed(begun.grants, token)
    const line = lineOf(token, told)
    told.hash.update(line)
    yield line
    if (told.isInterrupted()) throw new CommandFailure('interrupted: no file was written')
    if (json === true || elapsedMs() - toldMs < bulkToldMs) continue
    toldMs = elapsedMs()
    stderrNow.line(`${told.tokens} tokens so far`)
  }
  if (isDeepStrictEqual(await grantsOf(client), begun)) return
  throw new CommandFailure(
    'the rules of the key were changed meanwhile, so some data may be masked: no file was ' +
      'written, export again',
  )
}

/** True if the key may read everything, so that lists leave nothing out in silence. */
const readsAll = ({ permissions, rules }: Grants): boolean =>
  permissions.includes('token:read') ||
  rules.some(rule => rule.container === '/' && rule.permissions.includes('token:read'))

const codesLeft =
  'Codes of cards (cvc) are left out: they are not to be kept after an authorization.'

interface ExportSummary extends Exported {
  readonly bytes: number
  readonly isAll: boolean
}

function tell(
  { json, out, recipient = [] }: ExportOptions,
  { isAll, ...told }: ExportSummary,
): void {
  const { tokens, codes, bytes } = told
  const sha256 = told.hash.digest('hex')
  const recipients = recipient.length
  if (json === true) {
    return sayJson({ tokens, bytes, sha256, recipients, codes_left: codes, reads_all: isAll })
  }
  sayNow(
    `${counted(tokens, 'token', ['is', 'are'])} in ${out}, ` +
      `sealed to ${counted(recipients, 'recipient')}.`,
    `SHA-256 of what is sealed: ${sha256}`,
    ...(codes === 0 ? [] : [`${codesLeft} That was so for ${counted(codes, 'card')}.`]),
    ...(isAll ? [] : ['This key may not read every container: what it may not is not in there.']),
  )
}

interface HeldGrants {
  readonly grants: Grants
  /** Tells also of rules that were changed and changed back. */
  readonly modified: Date | undefined
}

const grantsOf = async ({ applications }: Client): Promise<HeldGrants> => {
  const { permissions, rules, modified_at } = await applications.current()
  return { grants: { permissions, rules } as Grants, modified: modified_at }
}

/** @throws CommandFailure; then there is no file */
async function exportTokens(options: ExportOptions): Promise<void> {
  const { recipient = [], out, type = [] } = options
  if (recipient.length === 0 || out === undefined) {
    throw usage('expected --recipient age1… and --out: an export is sealed, and goes to a file')
  }
  assertTypes(type)
  const encrypter = encrypterFor(recipient)
  await withClient(
    options,
    client =>
      untilInterrupted(async isInterrupted => {
        const exported = { tokens: 0, codes: 0, hash: createHash('sha256'), isInterrupted }
        const begun = await grantsOf(client)
        const lines = linesOf(client, begun, options, exported)
        const bytes = await writeSealed(out, encrypter, lines)
        tell(options, { ...exported, bytes, isAll: readsAll(begun.grants) })
      }),
    exactJson,
  )
}

export function addExport(token: Command): void {
  takesCaller(token.command('export'))
    .description('write all tokens, or those in a container, to a file that is sealed with age')
    .option('--recipient <age1...>', 'who can open it, as age-keygen names them')
    .option('--out <file>', 'a new file')
    .option('--container <path...>', 'any of these, with all below them')
    .option('--type <type...>', 'any of these')
    .action(exportTokens)
}
