/**
 * The code of a card, which ends by itself.
 *
 * It is kept in a row of its own, sealed, whose deadline is its end: unreadable from that instant
 * on, and swept as every expired row is. The data of its token lacks it, and is put together with
 * it for as long as it lives. Nothing is found by it, and no mask that shows it is kept evaluated.
 * Source: contract section 5; PCI DSS 3.3.1.
 * @module
 */
import { utf8 } from '../bytes.ts'
import { writeAttemptsMax } from '../limits.ts'
import type { Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import { isJsonObject, printJson, type Json } from '../json/json.ts'
import { changedByOthers, isExpired, sealRow, unsealRow, type RowSealer } from '../records/rows.ts'
import type { Transform } from '../rules/access.ts'
import type { TokenType } from '../rules/token-types.ts'
import { codeLifetimeMs } from '../settings.ts'
import type { Change, NewRow, Row } from '../store/contract.ts'
import { andThen, orElse, type MaybeLater } from '../waiting.ts'
import { codeUnique, defaultTokenId, tokenUnique } from './id.ts'
import type { StoredToken, TokenRecord } from './record.ts'

/** When the code of a new token ends, in Unix milliseconds; `undefined`: with all other data. */
export function codeEndOf(
  { settings, now }: Pick<Deps, 'settings' | 'now'>,
  { protectedCode }: TokenType,
): number | undefined {
  const lifetimeMs = protectedCode === undefined ? undefined : codeLifetimeMs(settings)
  return lifetimeMs === undefined ? undefined : now() + lifetimeMs
}

/** Where a token has its code, and until when. */
type CodePlace = NonNullable<TokenRecord['code']>

/** A code that is to be kept apart. */
export interface Code {
  /** JSON text of the member, with the comma that joins it to others. */
  readonly text: string
  /** Where in the text of the other data it belongs, in characters. */
  readonly at: number
  readonly endsAtMs: number
}

/** What is left of data without a code, and the code. */
interface Parted {
  readonly data: Json
  readonly code: Code
}

/** @returns `undefined` where data of that type has no code */
export function partCode(type: TokenType, data: Json, endsAtMs: number): Parted | undefined {
  const { protectedCode } = type
  if (protectedCode === undefined || !isJsonObject(data)) return undefined
  const { member } = protectedCode
  const code = data.get(member) ?? null
  if (code === null) return undefined
  const members = [...data]
  const index = members.findIndex(([name]) => name === member)
  const before = printJson(new Map(members.slice(0, index)))
  const text = `"${member}":${printJson(code)}`
  const others = new Map(members.toSpliced(index, 1))
  // Behind the opening brace, or behind the member before it.
  const at = before.length - 1
  const joined = index > 0 ? `,${text}` : others.size > 0 ? `${text},` : text
  return { data: others, code: { text: joined, at, endsAtMs } }
}

/** The same data with its code. */
const withText = (others: string, { at }: CodePlace, text: string): string =>
  others.slice(0, at) + text + others.slice(at)

const sealerOf = (keys: Keys, tenantId: string): RowSealer => ({
  scope: keys.tenant(tenantId),
  collection: 'code',
})

/** A row for a code, and where it is found. */
export interface SealedCode {
  readonly place: CodePlace
  readonly row: NewRow
}

export function sealCode(
  deps: Pick<Deps, 'keys' | 'randomBytes' | 'store'>,
  tenantId: string,
  { text, at, endsAtMs }: Code,
): SealedCode {
  const { keys, randomBytes } = deps
  const ref = defaultTokenId(deps, tenantId)
  const header = { uniques: [codeUnique(keys, tenantId, ref)], terms: [], deadlineMs: endsAtMs }
  const row = sealRow(sealerOf(keys, tenantId), randomBytes, header, 1, [utf8(text)])
  return { place: { ref, at, endsAtMs }, row }
}

/**
 * Whether a row is what codes are: which one, its token alone tells.
 * @throws ApiError `storage_corrupt` when it is not the row of a code of that tenant
 */
export function isCode(keys: Keys, tenantId: string, row: Row): boolean {
  const hasText = readCode(keys, tenantId, row) !== ''
  return (
    hasText && row.uniques.length === 1 && row.terms.length === 0 && row.deadlineMs !== undefined
  )
}

const readCode = (keys: Keys, tenantId: string, row: Row): string =>
  unsealRow(sealerOf(keys, tenantId), row).text(0)

/** Whether what is shown of a token depends on its code. */
export const isCodeShown = (transform: Transform, record: TokenRecord): boolean =>
  record.code !== undefined &&
  (transform === 'reveal' ||
    (transform === 'mask' && record.maskText !== undefined && record.maskedText === undefined))

/** A token was replaced between a look at it and one at its code: to be read anew. */
class CodeMoved extends Error {}

/**
 * Reads tokens with their codes, anew where one has changed meanwhile.
 * @throws ApiError `conflict` when others are always faster
 */
export function untilWhole<T>(read: () => MaybeLater<T>, attempt = 1): MaybeLater<T> {
  return orElse(read, thrown => {
    if (!(thrown instanceof CodeMoved)) throw thrown
    if (attempt === writeAttemptsMax) throw changedByOthers()
    return untilWhole(read, attempt + 1)
  })
}

type Finding = Pick<Deps, 'store' | 'keys'>

/** A token whose code is not there: it has ended since, or the token has another one by now. */
async function unlessReplaced<T extends StoredToken>(
  { store, keys }: Finding,
  tenantId: string,
  token: T,
): Promise<T> {
  const now = await store.find(tokenUnique(keys, tenantId, token.record.id))
  const { ordinal, version } = token.row
  if (now?.ordinal !== ordinal || now.version !== version) throw new CodeMoved()
  return token
}

/** The row of its code, ended or not; `undefined` where it is swept, or there is none. */
export const findCode = (
  { store, keys }: Finding,
  tenantId: string,
  { code }: TokenRecord,
): MaybeLater<Row | undefined> => code && store.find(codeUnique(keys, tenantId, code.ref))

/**
 * A token with the code that it has now, for whoever is shown its data.
 * @throws CodeMoved where the token has changed meanwhile
 */
export function withCode<T extends StoredToken>(
  deps: Pick<Deps, 'store' | 'keys' | 'now'>,
  tenantId: string,
  token: T,
): MaybeLater<T> {
  const { code: place } = token.record
  const nowMs = deps.now()
  if (place === undefined || place.endsAtMs <= nowMs) return token
  return andThen(findCode(deps, tenantId, token.record), row => {
    if (row === undefined || isExpired(row, nowMs)) return unlessReplaced(deps, tenantId, token)
    const text = readCode(deps.keys, tenantId, row)
    const unsealData = () => withText(token.unsealData(), place, text)
    return { ...token, unsealData, code: { row, text } }
  })
}

/** Of a token that was loaded with its code: one that has ended is swept. */
export const removeCode = ({ code }: Pick<StoredToken, 'code'>): readonly Change[] =>
  code === undefined ? [] : [{ remove: code.row.ordinal, ifVersion: code.row.version }]
