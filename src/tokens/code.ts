/**
 * The code of a card, which ends by itself.
 *
 * It stands in the record of its token, sealed under a key that leaves the disk once it has ended
 * (`code-key.ts`). Its token says when that is: from then on it is shown to nobody. The data lacks
 * it, and is put together with it for as long as it lives. Nothing is found by it, and no mask that
 * shows it is kept evaluated. Source: contract section 5; PCI DSS 3.3.1.
 * @module
 */
import { utf8, utf8Text } from '../lib/bytes.ts'
import { nonceBytes } from '../crypto/primitives.ts'
import { sealUnder, unsealUnder } from '../crypto/seal-under.ts'
import type { Deps } from '../deps.ts'
import {
  isJsonObject,
  printJson,
  withMember,
  type Json,
  type MutableObject,
} from '../lib/json/json.ts'
import { keptFor } from '../lib/maps.ts'
import type { Transform } from '../rules/access.ts'
import type { TokenType } from '../rules/token-types.ts'
import { codeLifetimeMs } from '../settings/settings.ts'
import { andThen, type MaybeLater } from '../lib/waiting.ts'
import { findCodeKey, obtainCodeKey, type CodeKey } from './code-key.ts'
import type { StoredToken, TokenRecord } from './token-record.ts'

/** Read once: a duration is a text. */
const lifetimeOf = keptFor((settings: Deps['settings']) => ({ ms: codeLifetimeMs(settings) }))

/** When the code of a new token ends, in Unix milliseconds; `undefined`: with all other data. */
export function codeEndOf(
  { settings }: Pick<Deps, 'settings'>,
  { protectedCode }: TokenType,
  nowMs: number,
): number | undefined {
  const lifetimeMs = protectedCode === undefined ? undefined : lifetimeOf(settings).ms
  return lifetimeMs === undefined ? undefined : nowMs + lifetimeMs
}

/** As a record has it. */
type KeptCode = NonNullable<TokenRecord['code']>

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
  readonly dataText: string
  readonly code: Code
}

/** @returns `undefined` where data of that type has no code */
export function partCode(
  { protectedCode }: TokenType,
  data: Json,
  endsAtMs: number,
): Parted | undefined {
  if (protectedCode === undefined || !isJsonObject(data)) return undefined
  const { member } = protectedCode
  if ((data.get(member) ?? null) === null) return undefined
  let others: MutableObject = new Map()
  let dataText = '{'
  let text = ''
  let at = 0
  for (const [name, value] of data) {
    const printed = `${JSON.stringify(name)}:${printJson(value)}`
    if (name === member) {
      at = dataText.length
      text = printed
    } else {
      dataText += others.size === 0 ? printed : `,${printed}`
      others = withMember(others, name, value)
    }
  }
  // With the comma that joins it to others: the one before it, or else the one behind it.
  if (others.size > 0) text = at > 1 ? `,${text}` : `${text},`
  return { data: others, dataText: `${dataText}}`, code: { text, at, endsAtMs } }
}

/** The same data with its code. */
export const withCodeText = (others: string, { at }: Pick<Code, 'at'>, text: string): string =>
  others.slice(0, at) + text + others.slice(at)

/** A code as the record of its token has it, and what a write of that has to say. */
export interface SealedCode {
  readonly kept: KeptCode
  readonly stands: CodeKey['stands']
}

/** @throws ApiError as `obtainCodeKey` */
export const sealCode = (
  deps: Pick<Deps, 'keys' | 'randomBytes' | 'store'>,
  tenantId: string,
  { text, at, endsAtMs }: Code,
): MaybeLater<SealedCode> =>
  andThen(obtainCodeKey(deps, tenantId, endsAtMs), ({ key, stands }) => ({
    kept: { at, endsAtMs, sealed: sealUnder(key, deps.randomBytes(nonceBytes), utf8(text)) },
    stands,
  }))

/** What a write of a token with that code has to say, while the code lives. */
export const standsFor = (
  { now }: Pick<Deps, 'now'>,
  code: SealedCode | undefined,
): readonly CodeKey['stands'][] =>
  code === undefined || code.kept.endsAtMs <= now() ? [] : [code.stands]

/** Whether what is shown of a token depends on its code. */
export const isCodeShown = (transform: Transform, record: TokenRecord): boolean =>
  record.code !== undefined &&
  (transform === 'reveal' ||
    (transform === 'mask' && record.maskText !== undefined && record.maskedText === undefined))

/** A token with the code that it has now, for a caller who is shown its data. */
export function withCode<T extends StoredToken>(
  deps: Pick<Deps, 'store' | 'keys' | 'now'>,
  tenantId: string,
  token: T,
): MaybeLater<T> {
  const { code: place } = token.record
  if (place === undefined || place.endsAtMs <= deps.now()) return token
  return andThen(findCodeKey(deps, tenantId, place.endsAtMs), found => {
    // A database that has lost its newest commits may have another key by now: the row is sound.
    const code = found && unsealUnder(found.key, place.sealed)
    if (code === undefined) return token
    const text = utf8Text(code)
    code.fill(0)
    return { ...token, unsealData: () => withCodeText(token.unsealData(), place, text) }
  })
}
