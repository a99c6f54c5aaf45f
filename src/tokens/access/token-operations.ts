/**
 * Operations on tokens, as an explanation foresees them: the permission that each asks for, and its
 * status for a token that the grants show, and for one that they hide.
 * @module
 */
import type { TokenPermission } from '../../rules/permissions.ts'

interface Foreseen {
  readonly permission: TokenPermission
  readonly shown: 200 | 201 | 204
  /** Lists leave a hidden token out, a create in a place out of reach is refused. */
  readonly hidden: 200 | 400 | 403 | 404
  /** For a token of which nothing is shown, if it differs from `shown`. */
  readonly blank?: 400
}

const list = { shown: 200, hidden: 200 } as const
const create = { permission: 'token:create', hidden: 403 } as const

/** By the names that generated clients use. */
export const tokenOperations = {
  createToken: { ...create, shown: 201 },
  getToken: { permission: 'token:read', shown: 200, hidden: 404 },
  updateToken: { permission: 'token:update', shown: 200, hidden: 404 },
  deleteToken: { permission: 'token:delete', shown: 204, hidden: 404 },
  listTokens: { permission: 'token:read', ...list },
  listTokensByCursor: { permission: 'token:read', ...list },
  listContainers: { permission: 'token:read', ...list },
  searchTokens: { permission: 'token:search', ...list },
  searchTokensByCursor: { permission: 'token:search', ...list },
  tokenize: { ...create, shown: 200 },
  detokenize: { permission: 'token:use', shown: 200, hidden: 400, blank: 400 },
} as const satisfies Readonly<Record<string, Foreseen>>

export type TokenOperation = keyof typeof tokenOperations

export const tokenOperationNames = Object.keys(tokenOperations) as readonly TokenOperation[]

/** Operations that stand for their permission where that alone is asked about. */
const usual: Readonly<Record<TokenPermission, TokenOperation>> = {
  'token:create': 'createToken',
  'token:read': 'getToken',
  'token:update': 'updateToken',
  'token:delete': 'deleteToken',
  'token:search': 'searchTokens',
  'token:use': 'detokenize',
}

export type AskedAccess =
  { readonly operation: TokenOperation } | { readonly permission: TokenPermission }

export const foreseen = (asked: AskedAccess): Foreseen =>
  tokenOperations['operation' in asked ? asked.operation : usual[asked.permission]]
