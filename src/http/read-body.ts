/**
 * The body of one request: its rule, its bytes within its lease of memory, which `giveBack` ends,
 * and what they say.
 * @module
 */
import type { MaybeLater } from '../lib/waiting.ts'
import type { Caller } from '../rules/caller.ts'
import type { Admission } from './admission.ts'
import { assertContentType, bringsBody, dropBody, parseJsonBody, readBytes } from './bodies.ts'
import type { Exchange } from './exchange.ts'
import type { BodyRule, Operation } from './operation.ts'

/** Returns the rule of a body; `undefined` if none is asked for, or an optional one is left out. */
export function bodyRuleFor({ body }: Operation, request: Request): BodyRule | undefined {
  const isLeftOut = body?.isOptional === true && !bringsBody(request) && request.body === null
  return isLeftOut ? undefined : body
}

/** @throws ApiError `unsupported_media_type` */
export function assertBodyType(rule: BodyRule | undefined, { headers }: Request): void {
  if (rule !== undefined) assertContentType(headers.get('content-type'), rule.contentType)
}

export function parseByRule(
  { deps }: Pick<Admission, 'deps'>,
  rule: BodyRule | undefined,
  caller: Caller,
  bytes: Uint8Array | undefined,
): MaybeLater<unknown> {
  if (rule === undefined || bytes === undefined) return undefined
  return parseJsonBody(bytes, rule, () => deps.turns.next(caller))
}

/**
 * @returns the body as it was sent; `undefined` without a rule for it
 * @throws ApiError `payload_too_large`, `overloaded`, `request_timeout`, `invalid_request`
 */
export async function readBody(
  { deps }: Pick<Admission, 'deps'>,
  rule: BodyRule | undefined,
  x: Exchange,
): Promise<Uint8Array | undefined> {
  const { request, bodyLease } = x
  if (rule === undefined || bodyLease === undefined) {
    await dropBody(request)
    return undefined
  }
  x.isBodyAwaited = true
  const bytes = await readBytes(request, bodyLease, deps.settings.bodyBytesMax)
  x.isBodyAwaited = false
  x.isBodyRead = true
  x.bytesIn = bytes.length
  await bodyLease.begin(bytes.length)
  return bytes
}
