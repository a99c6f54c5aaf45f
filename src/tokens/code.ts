/**
 * The security code of a card, which expires by itself.
 *
 * It is stored in the record of its token, sealed under a key that leaves the disk once the code
 * has ended (`code-key.ts`). The token says when that is: from then on nobody is shown the code.
 * The stored data lacks it, and the two are joined for as long as it lives. No search finds it, and
 * a mask that shows it is evaluated at each read. Source: contract section 5; PCI DSS 3.3.1.
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
import type { TokenTypeDefinition } from '../rules/token-types.ts'
import { codeLifetimeMs } from '../settings/settings.ts'
import { andThen, type MaybeLater } from '../lib/waiting.ts'
import { findCodeKey, obtainCodeKey, type CodeKey } from './code-key.ts'
import type { StoredToken, TokenRecord } from './token-record.ts'

/** Parsed once: the setting is a duration as text. */
const lifetimeOf = keptFor((settings: Deps['settings']) => ({ ms: codeLifetimeMs(settings) }))

/** Returns when a new token's code ends, in Unix ms; `undefined`: together with all other data. */
export function codeEndOf(
  { settings }: Pick<Deps, 'settings'>,
  { protectedCode }: TokenTypeDefinition,
  nowMs: number,
): number | undefined {
  const lifetimeMs = protectedCode === undefined ? undefined : lifetimeOf(settings).ms
  return lifetimeMs === undefined ? undefined : nowMs + lifetimeMs
}

/** Form of a code inside its record. */
type KeptCode = NonNullable<TokenRecord['code']>

/** A code that is stored apart from the other data. */
export interface Code {
  /** JSON text of the member, with the comma that joins it to the others. */
  readonly text: string
  /** Position in the text of the other data, in characters. */
  readonly at: number
  readonly endsAtMs: number
}

/** Data without its code, and the code. */
interface Parted {
  readonly data: Json
  readonly dataText: string
  readonly code: Code
}

/** @returns `undefined` if the data has no code */
export function partCode(
  { protectedCode }: TokenTypeDefinition,
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
  // The comma before it joins it to the others, or the one behind it if it comes first.
  if (others.size > 0) text = at > 1 ? `,${text}` : `${text},`
  return { data: others, dataText: `${dataText}}`, code: { text, at, endsAtMs } }
}

/** Returns the data with its code put back. */
export const withCodeText = (others: string, { at }: Pick<Code, 'at'>, text: string): string =>
  others.slice(0, at) + text + others.slice(at)

/** A code as its record holds it, and the precondition of a write with it. */
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

/** Preconditions of a write of a token with that code, while the code lives. */
export const standsFor = (
  { now }: Pick<Deps, 'now'>,
  code: SealedCode | undefined,
): readonly CodeKey['stands'][] =>
  code === undefined || code.kept.endsAtMs <= now() ? [] : [code.stands]

/** Returns true if the caller's view of the token depends on its code. */
export const isCodeShown = (transform: Transform, record: TokenRecord): boolean =>
  record.code !== undefined &&
  (transform === 'reveal' ||
    (transform === 'mask' && record.maskText !== undefined && record.maskedText === undefined))

/** Adds the code, while it lives, for a caller who is shown the data. */
export function withCode<T extends StoredToken>(
  deps: Pick<Deps, 'store' | 'keys' | 'now'>,
  tenantId: string,
  token: T,
): MaybeLater<T> {
  const { code: place } = token.record
  if (place === undefined || place.endsAtMs <= deps.now()) return token
  return andThen(findCodeKey(deps, tenantId, place.endsAtMs), found => {
    // A database that lost its newest commits may have another key by now. The row is sound.
    const code = found && unsealUnder(found.key, place.sealed)
    if (code === undefined) return token
    const text = utf8Text(code)
    code.fill(0)
    return { ...token, unsealData: () => withCodeText(token.unsealData(), place, text) }
  })
}
