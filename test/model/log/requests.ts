/**
 * Requests of every kind, each with the entry that it is to have, or without one.
 * @module
 */
import fc from 'fast-check'
import { decide, mayAnywhere, type CallerName, type Decision } from './state.ts'
import type { Model, Told, Transform } from './state.ts'

const tokenIds = ['tok-0', 'tok-1', 'tok-2', 'tok-3', 'tok-4'] as const
const containers = ['/pci/', '/pii/', '/other/'] as const
const callers = ['full', 'ruled', 'reading', 'creating', 'manager'] as const

const kinds = [
  'get',
  'get',
  'head',
  'create',
  'create',
  'repeat',
  'patch',
  'patch wrong type',
  'patch wrong body',
  'delete',
  'list',
  'list wrong',
  'head of list',
  'walk',
  'old walk',
  'search',
  'old search',
  'search wrong',
  'bulk',
  'bulk taken',
  'bulk partly',
  'use',
  'use absent',
  'broken body',
  'long body',
  'own application',
  'permissions',
  'no key',
  'unknown key',
  'options',
  'wrong method',
  'nowhere',
] as const

export const draws = fc.record({
  kind: fc.constantFrom(...kinds),
  by: fc.constantFrom<CallerName>('full', 'full', ...callers, 'ruled'),
  id: fc.constantFrom(...tokenIds),
  container: fc.constantFrom(...containers),
  stated: fc.constantFrom(undefined, undefined, undefined, 'Case 4711'),
})
export type Draw = typeof draws extends fc.Arbitrary<infer T> ? T : never

/** A request to send, and what its entry is to say; `undefined`: it is to have none. */
export interface Planned {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly raw?: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  /** No key, one of nobody, or that of the caller. */
  readonly key?: 'none' | 'unknown'
  readonly status: number
  readonly told?: Told
  /** Completes what only the answer tells: ids that the vault has made. */
  readonly complete?: (told: Told, body: unknown) => Told
}

const tokenOf = (id: string | undefined, container: string) => ({
  ...(id === undefined ? {} : { id }),
  type: 'token',
  data: 'planted-secret-value',
  containers: [container],
})

type Kind = Pick<Told, 'operation'> & { readonly permission: string }

const token = { entity_type: 'token' } as const

/** The refusal of a caller who lacks a permission. */
const forbidden = ({ operation }: Kind, ids: readonly string[]): Told => ({
  ...token,
  operation,
  ids,
  rule: 'none',
  result: 403,
  reason: 'forbidden',
})

const refused = (operation: string, ids: readonly string[], result: number): Told => ({
  ...token,
  operation,
  ids,
  result,
  reason: reasons[result],
})

const reasons: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  404: 'not_found',
  409: 'conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
}

const get: Kind = { operation: 'getToken', permission: 'token:read' }
const update: Kind = { operation: 'updateToken', permission: 'token:update' }
const remove: Kind = { operation: 'deleteToken', permission: 'token:delete' }
const create: Kind = { operation: 'createToken', permission: 'token:create' }
const tokenize: Kind = { operation: 'tokenize', permission: 'token:create' }
const use: Kind = { operation: 'detokenize', permission: 'token:use' }

/** Decides about one token, or says how the refusal is told. */
function ofOne(model: Model, { by, id }: Draw, kind: Kind): Decision | Told {
  const ids = [id]
  if (!mayAnywhere(by, kind.permission)) return forbidden(kind, ids)
  const container = model.tokens.get(id)
  const decision = container === undefined ? undefined : decide(by, kind.permission, container)
  if (decision !== undefined) return decision
  const hidden = container === undefined ? {} : { rule: 'none' }
  return { ...refused(kind.operation, ids, 404), ...hidden }
}

const isTold = (decided: Decision | Told): decided is Told => 'result' in decided

function planGet(model: Model, draw: Draw, method: 'GET' | 'HEAD'): Planned {
  const decided = ofOne(model, draw, get)
  const path = `/tokens/${draw.id}`
  if (isTold(decided)) return { method, path, status: decided.result, told: decided }
  const { transform, rule } = decided
  const shown = method === 'HEAD' ? 'redact' : transform
  const told: Told = { ...token, ...get, ids: [draw.id], transform: shown, rule, result: 200 }
  return { method, path, status: 200, told }
}

function planPatch(model: Model, draw: Draw): Planned {
  const path = `/tokens/${draw.id}`
  const asked = { method: 'PATCH', path, body: { metadata: { colour: 'planted' } } }
  if (draw.kind === 'patch') {
    const decided = ofOne(model, draw, update)
    if (isTold(decided)) return { ...asked, status: decided.result, told: decided }
    const told: Told = { ...token, ...update, ids: [draw.id], rule: decided.rule, result: 200 }
    return { ...asked, status: 200, told }
  }
  const isType = draw.kind === 'patch wrong type'
  const wrong = isType ? { ...asked, type: 'text/plain' } : { ...asked, body: { metadata: 7 } }
  if (!mayAnywhere(draw.by, update.permission)) {
    return { ...wrong, status: 403, told: forbidden(update, [draw.id]) }
  }
  const status = isType ? 415 : 400
  return { ...wrong, status, told: refused('updateToken', [draw.id], status) }
}

function planDelete(model: Model, draw: Draw): Planned {
  const path = `/tokens/${draw.id}`
  const decided = ofOne(model, draw, remove)
  if (isTold(decided)) return { method: 'DELETE', path, status: decided.result, told: decided }
  model.tokens.delete(draw.id)
  const told: Told = { ...token, ...remove, ids: [draw.id], rule: decided.rule, result: 204 }
  return { method: 'DELETE', path, status: 204, told }
}

function planCreate(model: Model, draw: Draw): Planned {
  const { by, id, container, kind } = draw
  const asked = { method: 'POST', path: '/tokens', body: tokenOf(id, container) }
  if (!mayAnywhere(by, 'token:create')) {
    return { ...asked, status: 403, told: forbidden(create, []) }
  }
  if (kind === 'broken body') {
    const raw = '{"type":"token","data":"planted'
    return { ...asked, raw, status: 400, told: refused('createToken', [], 400) }
  }
  if (kind === 'long body') {
    const raw = ' '.repeat(1_048_577)
    return { ...asked, raw, status: 413, told: refused('createToken', [], 413) }
  }
  if (model.tokens.has(id)) return { ...asked, status: 409, told: refused('createToken', [], 409) }
  model.tokens.set(id, container)
  const told: Told = { ...token, ...create, ids: [id], rule: 'token:create', result: 201 }
  return { ...asked, status: 201, told }
}

const order: readonly Transform[] = ['redact', 'mask', 'reveal']

/** Returns what a list or search shows, newest first, and what its entry says of it. */
function shownTo({ tokens }: Model, by: CallerName, permission: string, isHead = false) {
  const seen = [...tokens].toReversed().flatMap(([id, container]) => {
    const decision = decide(by, permission, container)
    return decision === undefined ? [] : [{ id, ...decision }]
  })
  const most = order.findLast(each => seen.some(({ transform }) => transform === each))
  const named = [...new Set(seen.map(({ rule }) => rule))]
  const rule = named.length > 1 ? 'several' : (named[0] ?? permission)
  const transform = isHead && most !== undefined ? 'redact' : most
  return { ids: seen.map(({ id }) => id), transform, rule }
}

function planList(model: Model, { by, kind }: Draw): Planned {
  const isOld = kind === 'old walk'
  const operation = isOld || kind === 'walk' ? walkNames[kind] : 'listTokens'
  const paths: Readonly<Record<string, string>> = {
    walk: '/tokens?start=&size=100',
    'old walk': '/v2/tokens?size=100',
    'list wrong': '/tokens?colour=planted',
  }
  const method = kind === 'head of list' ? 'HEAD' : 'GET'
  const asked = { method, path: paths[kind] ?? '/tokens?size=100' }
  const read: Kind = { operation, permission: 'token:read' }
  if (!mayAnywhere(by, 'token:read')) return { ...asked, status: 403, told: forbidden(read, []) }
  if (kind === 'list wrong') return { ...asked, status: 400, told: refused(operation, [], 400) }
  const shown = shownTo(model, by, 'token:read', method === 'HEAD')
  return { ...asked, status: 200, told: { ...token, operation, ...shown, result: 200 } }
}

const walkNames = { walk: 'listTokens', 'old walk': 'listTokensByCursor' } as const

function planSearch(model: Model, { by, kind }: Draw): Planned {
  const operation = kind === 'old search' ? 'searchTokensByCursor' : 'searchTokens'
  const path = kind === 'old search' ? '/v2/tokens/search' : '/tokens/search'
  const query = kind === 'search wrong' ? 'type:planted AND' : 'type:token'
  const asked = { method: 'POST', path, body: { query, size: 100 } }
  const search: Kind = { operation, permission: 'token:search' }
  if (!mayAnywhere(by, 'token:search'))
    return { ...asked, status: 403, told: forbidden(search, []) }
  if (kind === 'search wrong') return { ...asked, status: 400, told: refused(operation, [], 400) }
  const shown = shownTo(model, by, 'token:search')
  const told: Told = { ...token, operation, ...shown, searched: ['type'], result: 200 }
  return { ...asked, status: 200, told }
}

interface Made {
  readonly id?: string
}

/** The answer to a request of which a part may fail. */
interface Partly {
  readonly results: readonly { readonly token?: Made }[]
}

const idOf = ({ id = '' }: Made): string => id
const idsIn = ({ results }: Partly): string[] =>
  results.flatMap(({ token: made }) => (made === undefined ? [] : [idOf(made)]))

function planBulk(model: Model, { by, kind, container }: Draw): Planned {
  const [taken] = model.tokens.keys()
  const isTaken = kind !== 'bulk' && taken !== undefined
  const isPartly = isTaken && kind === 'bulk partly'
  const path = isPartly ? '/tokenize?mode=partial' : '/tokenize'
  const items = [tokenOf(isTaken ? taken : undefined, container), tokenOf(undefined, container)]
  const asked = { method: 'POST', path, body: items }
  if (!mayAnywhere(by, 'token:create')) {
    return { ...asked, status: 403, told: forbidden(tokenize, []) }
  }
  // A refusal may name what came before the item that is refused: here there is nothing.
  if (isTaken && !isPartly) {
    const told = { ...refused('tokenize', [], 409), rule: 'token:create' }
    return { ...asked, status: 409, told }
  }
  const told: Told = { ...token, ...tokenize, ids: [], rule: 'token:create', result: 200 }
  return {
    ...asked,
    status: 200,
    told,
    complete(before, body) {
      const ids = isPartly ? idsIn(body as Partly) : (body as readonly Made[]).map(idOf)
      for (const id of ids) model.tokens.set(id, container)
      return { ...before, ids }
    },
  }
}

function planUse(model: Model, { by, kind }: Draw): Planned {
  const ids = [...model.tokens.keys()].slice(0, 3)
  const isAbsent = kind === 'use absent' || ids.length === 0
  const used = isAbsent ? ['tok-absent'] : ids
  const asked = { method: 'POST', path: '/detokenize', body: used.map(id => `{{ ${id} }}`) }
  if (!mayAnywhere(by, 'token:use')) return { ...asked, status: 403, told: forbidden(use, []) }
  if (isAbsent) return { ...asked, status: 400, told: refused('detokenize', [], 400) }
  const shown = { ids, transform: 'reveal', rule: 'token:use' }
  return { ...asked, status: 200, told: { ...token, ...use, ...shown, result: 200 } }
}

/** No operation: it has no entry. */
const strange: Readonly<Record<string, Planned>> = {
  options: { method: 'OPTIONS', path: '/tokens', status: 204 },
  'wrong method': { method: 'PUT', path: '/tokens', body: {}, status: 405 },
  nowhere: { method: 'GET', path: '/planted', status: 404 },
  'no key': { method: 'GET', path: '/tokens', key: 'none', status: 401 },
  'unknown key': { method: 'GET', path: '/tokens', key: 'unknown', status: 401 },
}

const plain: Readonly<Record<string, Planned>> = {
  'own application': {
    method: 'GET',
    path: '/applications/key',
    status: 200,
    told: { operation: 'getOwnApplication', entity_type: 'application', ids: [], result: 200 },
  },
  permissions: {
    method: 'GET',
    path: '/permissions',
    status: 200,
    told: { operation: 'listPermissions', entity_type: 'permission', ids: [], result: 200 },
  },
}

/** Plans a request, and changes the model as it will change the vault. */
export function plan(model: Model, draw: Draw): Planned {
  const { kind } = draw
  const known = strange[kind] ?? plain[kind]
  if (known !== undefined) return known
  if (kind === 'get') return planGet(model, draw, 'GET')
  if (kind === 'head') return planGet(model, draw, 'HEAD')
  if (kind.startsWith('patch')) return planPatch(model, draw)
  if (kind === 'delete') return planDelete(model, draw)
  if (kind.includes('search')) return planSearch(model, draw)
  if (kind.includes('bulk')) return planBulk(model, draw)
  if (kind.startsWith('use')) return planUse(model, draw)
  if (kind.includes('list') || kind.includes('walk')) return planList(model, draw)
  return planCreate(model, draw)
}
