/**
 * Lines that `coffer dev` prints for requests: the answer, and the reason why something was
 * refused, masked or hidden. A throw-away vault may say what others must not.
 *
 * The token is looked up after the answer was sent, so a line does not slow the request.
 * @module
 */
import { findApplication } from '../applications/application-service.ts'
import type { AnswerNotice, Deps } from '../deps.ts'
import { isExpired } from '../records/expiry.ts'
import { decideTransform, decidingRule, type Rule } from '../rules/access.ts'
import type { Caller } from '../rules/caller.ts'
import type { TokenPermission } from '../rules/permissions.ts'
import { tokenUnique } from '../tokens/token-id.ts'
import { unsealToken, type TokenRecord } from '../tokens/token-record.ts'
import { shown } from './table.ts'
import { serial } from '../lib/serial.ts'

/** Permissions for the operations on one token. */
const permissions: ReadonlyMap<string, TokenPermission> = new Map([
  ['createToken', 'token:create'],
  ['getToken', 'token:read'],
  ['updateToken', 'token:update'],
  ['deleteToken', 'token:delete'],
])

const lists: ReadonlyMap<string, TokenPermission> = new Map([
  ['listTokens', 'token:read'],
  ['listTokensByCursor', 'token:read'],
  ['searchTokens', 'token:search'],
  ['searchTokensByCursor', 'token:search'],
])

async function nameOf(deps: Deps, { tenantId, applicationId, type }: Caller): Promise<string> {
  // An application that has deleted itself has no name any more.
  const found = await findApplication(deps, tenantId, applicationId).catch(() => undefined)
  const name = found === undefined ? 'an application' : `"${shown(found.record.name)}"`
  return type === 'session' ? `a session of ${name}` : name
}

async function findToken(
  { store, keys, now }: Deps,
  tenantId: string,
  id: string,
): Promise<TokenRecord | undefined> {
  const row = await store.find(tokenUnique(keys, tenantId, id))
  return row && !isExpired(row, now()) ? unsealToken(keys, tenantId, row).record : undefined
}

const placeOf = ({ containers }: TokenRecord): string => containers.join(', ')

const ruleName = ({ priority, container, transform, description }: Rule): string => {
  const scope = container ?? 'by conditions'
  const words = description === undefined ? '' : `, ${shown(description)}`
  return `rule ${priority} (${scope}, ${transform}${words})`
}

const isWrite = (permission: TokenPermission): boolean =>
  permission === 'token:create' || permission === 'token:update'

function maskingOf({ maskText, maskedText }: TokenRecord): string {
  if (maskText === undefined) return 'data left out, as the token has no mask'
  return maskedText === null ? 'data left out, as its mask makes nothing of it' : 'masked'
}

/** Explains why data was shown as it was. */
function showing(
  name: string,
  { grants }: Caller,
  permission: TokenPermission,
  token: TokenRecord,
): string | undefined {
  const transform = decideTransform(grants, permission, token)
  const rule = decidingRule(grants, permission, token)
  const by = rule === undefined ? `plain ${permission}` : ruleName(rule)
  if (transform === undefined) return undefined
  if (transform === 'redact') return `redacted: ${by} of ${name} decides`
  if (transform === 'reveal' && !isWrite(permission)) return undefined
  const what = maskingOf(token)
  if (transform === 'reveal') return `${what}: answers of writes are never in the clear`
  return `${what}: ${by} of ${name} decides`
}

async function whyHidden(
  deps: Deps,
  name: string,
  caller: Caller,
  permission: TokenPermission,
  id: string,
): Promise<string> {
  const token = await findToken(deps, caller.tenantId, id)
  if (token === undefined) return 'no such token'
  const isCovered = decideTransform(caller.grants, permission, token) !== undefined
  if (isCovered) return 'no such token at that moment'
  return `hidden: no rule of ${name} covers ${placeOf(token)} for ${permission}`
}

/** The last segment of the token's address. */
function idOf({ request, location }: AnswerNotice): string {
  const { pathname } = new URL(location ?? request.url, 'http://localhost')
  const segment = /([^/]*)\/?$/.exec(pathname)?.[1] ?? ''
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function heldBy(name: string, { grants }: Caller): string {
  const all = [...grants.permissions, ...grants.rules.flatMap(rule => rule.permissions)]
  return `${name} holds ${[...new Set(all)].join(', ')}`
}

async function reasonOf(deps: Deps, answered: AnswerNotice): Promise<string | undefined> {
  const { status, operation = '', detail, caller } = answered
  if (caller === undefined) return detail
  const name = await nameOf(deps, caller)
  if (status === 403) return `${detail}; ${heldBy(name, caller)}`
  const permission = permissions.get(operation)
  if (permission !== undefined && status === 404) {
    return whyHidden(deps, name, caller, permission, idOf(answered))
  }
  if (status >= 400) return detail
  if (permission !== undefined && status < 204) {
    const token = await findToken(deps, caller.tenantId, idOf(answered))
    return token && showing(name, caller, permission, token)
  }
  const listing = lists.get(operation)
  if (listing === undefined || caller.grants.rules.length > 0) return undefined
  return `masked: plain ${listing} of ${name} decides`
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

async function lineOf(deps: Deps, answered: AnswerNotice): Promise<string> {
  const { request, status, route } = answered
  const method = knownMethods.has(request.method) ? request.method : 'other'
  const reason = await reasonOf(deps, answered).catch(() => undefined)
  const why = reason === undefined ? '' : ` · ${reason}`
  return `${status} ${method} ${route ?? '(no such address)'}${why}`
}

export interface RequestLines {
  readonly explain: (deps: Deps, answered: AnswerNotice) => void
  /** Resolves when all are written. */
  readonly end: () => Promise<void>
}

/** @param write takes one line; they come in the order of the answers */
export function makeRequestLines(write: (line: string) => void): RequestLines {
  const serially = serial()
  return {
    explain(deps, answered) {
      const line = lineOf(deps, answered)
      void serially(async () => write(await line))
    },
    end: () => serially(async () => {}),
  }
}
