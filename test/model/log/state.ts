/**
 * Model of the audit log of one tenant: the entry that each request is to have.
 *
 * Source: `docs/audit.md` and contract section 17 in `docs/interface.md`.
 * @module
 */

export type CallerName = 'full' | 'ruled' | 'reading' | 'creating' | 'manager'

export interface Key {
  readonly key: string
  readonly id: string
  readonly type: string
}

/** Members of an entry beside its instant and its caller. */
export interface Told {
  readonly operation: string
  readonly entity_type: string
  readonly ids: readonly string[]
  readonly transform?: string | undefined
  readonly rule?: string | undefined
  readonly result: number
  readonly reason?: string | undefined
  readonly searched?: readonly string[]
  readonly stated_reason?: string | undefined
}

export interface ModelEntry extends Told {
  readonly by: CallerName
  readonly traceId: string
  readonly atMs: number
  /** Number of the requests that were sent together. */
  readonly step: number
  /** Number of times that all was written before. */
  readonly epoch: number
  /** True if it was written before the answer. */
  readonly isAwaited: boolean
}

export interface Model {
  readonly tenantId: string
  readonly keys: Readonly<Record<CallerName, Key>>
  /** Ids of keys, as they are learned. */
  readonly keyIds: Map<CallerName, string>
  readonly entries: ModelEntry[]
  /** Containers of tokens by their ids, newest last. */
  readonly tokens: Map<string, string>
  nowMs: number
  requests: number
  step: number
  epoch: number
  /** Number of requests without a live key. */
  refusedLogins: number
}

export type Transform = 'redact' | 'mask' | 'reveal'

interface Grant {
  readonly container: string
  readonly transform: Transform
  readonly permissions: readonly string[]
}

/** Rules of the caller that has some; they are told by their place. */
export const rules: readonly Grant[] = [
  {
    container: '/pci/',
    transform: 'mask',
    permissions: ['token:read', 'token:update', 'token:delete'],
  },
  { container: '/pii/', transform: 'reveal', permissions: ['token:read', 'token:search'] },
]

export const permissionsOf: Readonly<Record<CallerName, readonly string[]>> = {
  full: ['token:create', 'token:read', 'token:update', 'token:delete', 'token:search', 'token:use'],
  ruled: [],
  reading: ['token:read'],
  creating: ['token:create'],
  manager: [],
}

export const mayAnywhere = (by: CallerName, permission: string): boolean =>
  permissionsOf[by].includes(permission) ||
  (by === 'ruled' && rules.some(({ permissions }) => permissions.includes(permission)))

export interface Decision {
  readonly transform: Transform
  readonly rule: string
}

/** Undefined: not covered, as if the token were not there. */
export function decide(
  by: CallerName,
  permission: string,
  container: string,
): Decision | undefined {
  if (by === 'ruled') {
    const place = rules.findIndex(
      each => container.startsWith(each.container) && each.permissions.includes(permission),
    )
    const rule = rules[place]
    return rule === undefined ? undefined : { transform: rule.transform, rule: `rule ${place}` }
  }
  if (!permissionsOf[by].includes(permission)) return undefined
  return { transform: permission === 'token:use' ? 'reveal' : 'mask', rule: permission }
}
