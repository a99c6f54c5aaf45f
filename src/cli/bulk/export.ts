/**
 * `coffer token export`: what a key may see of a vault, each token a line that `import` takes back,
 * sealed to a recipient and nowhere else.
 * @module
 */
import { createHash, type Hash } from 'node:crypto'
import type { Client, Token, TokenType } from '../../client/index.ts'
import { isJsonObject, printJson, type Json } from '../../json/json.ts'
import { bulkToldMs } from '../../operation-limits.ts'
import { decideTransform, type Grants } from '../../rules/access.ts'
import { CommandFailure, usageExitCode } from '../../serve/failure.ts'
import { elapsedMs, sayJson, sayNow, stderrNow } from '../../serve/system.ts'
import { withClient, type ReachOptions } from '../reach.ts'
import { exactJson } from './exact-json.ts'
import { encrypterFor, writeSealed } from './sealed-file.ts'

export interface ExportOptions extends ReachOptions {
  readonly recipient?: readonly string[]
  readonly out?: string
  readonly container?: readonly string[]
  readonly type?: readonly string[]
}

const usage = (message: string) => new CommandFailure(message, usageExitCode)

interface Exported {
  tokens: number
  /** Codes of cards that were left out. */
  codes: number
  readonly hash: Hash
}

function withoutCode(data: Json, told: Exported): Json {
  if (!isJsonObject(data) || !data.has('cvc')) return data
  told.codes += 1
  return new Map([...data].filter(([name]) => name !== 'cvc'))
}

/**
 * As it is answered. A token without a mask says so: else it would get that of its type when it
 * comes back.
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

async function* linesOf(
  client: Client,
  grants: Grants,
  { container, type, json }: ExportOptions,
  told: Exported,
): AsyncGenerator<string, void> {
  // The vault tells which types it knows.
  const types = type as readonly TokenType[] | undefined
  const filter = { ...(container && { container }), ...(types && { type: types }) }
  let toldMs = elapsedMs()
  for await (const token of client.tokens.list(filter)) {
    assertRevealed(grants, token)
    const line = lineOf(token, told)
    told.hash.update(line)
    yield line
    if (json === true || elapsedMs() - toldMs < bulkToldMs) continue
    toldMs = elapsedMs()
    stderrNow.write(`${told.tokens} tokens so far\n`)
  }
}

/** Whether it may read all that there is, so that lists leave nothing out in silence. */
const readsAll = ({ permissions, rules }: Grants): boolean =>
  permissions.includes('token:read') ||
  rules.some(rule => rule.container === '/' && rule.permissions.includes('token:read'))

const codesLeft =
  'Codes of cards (cvc) are left out: they are not to be kept after an authorization.'

/** @throws CommandFailure; then there is no file */
export async function exportTokens(options: ExportOptions): Promise<void> {
  const { recipient = [], out, json } = options
  if (recipient.length === 0 || out === undefined) {
    throw usage('expected --recipient age1… and --out: an export is sealed, and goes to a file')
  }
  const encrypter = encrypterFor(recipient)
  const told: Exported = { tokens: 0, codes: 0, hash: createHash('sha256') }
  await withClient(
    options,
    async client => {
      const grants = (await client.applications.current()) as Grants
      const bytes = await writeSealed(out, encrypter, linesOf(client, grants, options, told))
      const { tokens, codes } = told
      const sha256 = told.hash.digest('hex')
      const isAll = readsAll(grants)
      if (json === true) {
        return sayJson({
          tokens,
          bytes,
          sha256,
          recipients: recipient.length,
          codes_left: codes,
          reads_all: isAll,
        })
      }
      sayNow(
        `${tokens} tokens are in ${out}, sealed to ${recipient.length} recipients.`,
        `SHA-256 of what is sealed: ${sha256}`,
        ...(codes === 0 ? [] : [`${codesLeft} That was so for ${codes} cards.`]),
        ...(isAll
          ? []
          : ['This key may not read every container: what it may not is not in there.']),
      )
    },
    exactJson,
  )
}
