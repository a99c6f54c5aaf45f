/**
 * Operations on applications, their keys, the tenant and permissions.
 * @module
 */
import type { Ask } from './ask.ts'
import type { Answer, CallOptions } from './call.ts'
import type {
  Application,
  ApplicationKey,
  ApplicationList,
  ApplicationType,
  CreateApplicationKeyRequest,
  CreateApplicationRequest,
  Permission,
  Tenant,
  UpdateApplicationRequest,
  UpdateTenantRequest,
} from './interface.ts'
import { below, withQuery } from './paths.ts'
import { isApplication, isNothing } from './shapes.ts'
import type { WalkChoice } from './token.ts'
import { walkPages } from './walk.ts'

/** Any value of a list may match, and every filter must. */
export interface ApplicationFilter {
  readonly id?: readonly string[]
  readonly type?: readonly ApplicationType[]
}

/** Options of an update of an application. */
export interface UpdateOptions extends CallOptions {
  /** Reveals any number of tokens, where the vault has a limit for one change. */
  readonly confirm?: boolean
}

/** Operations on the keys of an application, of which several may be live. */
export interface ApplicationKeys {
  /**
   * Its keys, without their secrets.
   *
   * @throws CofferError `not_found`, `forbidden`
   * @example
   * const keys = await manager.applications.keys.list(application.id)
   */
  list(applicationId: string, options?: CallOptions): Answer<readonly ApplicationKey[]>

  /**
   * Adds a key. Only the answer holds it; if that is lost, a retry is a `conflict`.
   *
   * @throws CofferError `not_found`, `forbidden`, `conflict`
   * @example
   * const { key } = await manager.applications.keys.create(application.id, {
   *   expires_at: new Date('2027-01-01'),
   * })
   */
  create(
    applicationId: string,
    key?: CreateApplicationKeyRequest,
    options?: CallOptions,
  ): Answer<ApplicationKey & { readonly key: string }>

  /**
   * Facts about a key, without the key.
   *
   * @throws CofferError `not_found`, `forbidden`
   * @example
   * const { last_used_on } = await manager.applications.keys.get(application.id, id)
   */
  get(applicationId: string, id: string, options?: CallOptions): Answer<ApplicationKey>

  /**
   * Ends a key at once.
   *
   * @throws CofferError `not_found`, `forbidden`
   * @example
   * await manager.applications.keys.delete(application.id, id)
   */
  delete(applicationId: string, id: string, options?: CallOptions): Answer<void>
}

/** Operations on applications, which hold keys and rights; for a management application. */
export interface Applications {
  /**
   * A new application. Only the answer holds its key; if that is lost, a retry is a `conflict`.
   *
   * @throws CofferError `invalid_request`, `forbidden`, `conflict`
   * @example
   * const { key } = await manager.applications.create({
   *   name: 'Support desk',
   *   type: 'private',
   *   rules: [{ priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] }],
   * })
   */
  create(
    application: CreateApplicationRequest,
    options?: CallOptions,
  ): Answer<Application & { readonly key: string }>

  /**
   * An application, without its keys.
   *
   * @throws CofferError `not_found`, `forbidden`
   * @example
   * const { name } = await manager.applications.get(id)
   */
  get(id: string, options?: CallOptions): Answer<Application>

  /**
   * The application of this client's key.
   *
   * @throws CofferError `unauthenticated`
   * @example
   * const { name, permissions } = await vault.applications.current()
   */
  current(options?: CallOptions): Answer<Application>

  /**
   * Replaces its name and rights; what is left out becomes empty.
   *
   * @throws CofferError `invalid_request`, `not_found`, `forbidden`
   * @example
   * await manager.applications.update(id, { name: 'Desk', permissions: ['token:read'] })
   */
  update(
    id: string,
    application: UpdateApplicationRequest,
    options?: UpdateOptions,
  ): Answer<Application>

  /**
   * Shows it as an update would leave it, and in `_extras` what it would see otherwise.
   *
   * @throws CofferError `invalid_request`, `not_found`, `forbidden`
   * @example
   * const { _extras } = await manager.applications.preview(id, { name: 'Desk' })
   */
  preview(
    id: string,
    application: UpdateApplicationRequest,
    options?: CallOptions,
  ): Answer<Application>

  /**
   * A new key in place of all its keys, which are refused from then on.
   *
   * @throws CofferError `not_found`, `forbidden`, `conflict` if the answer with the key was lost
   * @example
   * const { key } = await manager.applications.regenerate(id)
   */
  regenerate(id: string, options?: CallOptions): Answer<Application & { readonly key: string }>

  /**
   * Deletes an application with its keys. Its tokens stay.
   *
   * @throws CofferError `not_found`, `forbidden`
   * @example
   * await manager.applications.delete(id)
   */
  delete(id: string, options?: CallOptions): Answer<void>

  /**
   * Every application that matches; one that is added meanwhile can make one come twice.
   *
   * @throws CofferError (each step) `invalid_request`, `forbidden`
   * @throws TypeError (the first step) for an invalid `size` or `limit`
   * @example
   * for await (const { name } of manager.applications.list({ type: ['private'] })) use(name)
   */
  list(
    filter?: ApplicationFilter & WalkChoice,
    options?: CallOptions,
  ): AsyncGenerator<Application, void>

  readonly keys: ApplicationKeys
}

/** Operations on the tenant of the key. */
export interface TenantSelf {
  /**
   * The tenant of the key.
   *
   * @throws CofferError `forbidden`
   * @example
   * const { name } = await manager.tenant.get()
   */
  get(options?: CallOptions): Answer<Tenant>

  /**
   * Renames it.
   *
   * @throws CofferError `invalid_request`, `forbidden`
   * @example
   * await manager.tenant.update({ name: 'Shop' })
   */
  update(tenant: UpdateTenantRequest, options?: CallOptions): Answer<Tenant>
}

/** Operations on permissions. */
export interface Permissions {
  /**
   * The permissions that can be granted, to the given types of application if any.
   *
   * @throws CofferError `invalid_request`, `unauthenticated`
   * @example
   * const granted = await manager.permissions.list(['public'])
   */
  list(types?: readonly ApplicationType[], options?: CallOptions): Answer<readonly Permission[]>
}

const base = '/applications'
const nothing = { is: isNothing }
const keysOf = (applicationId: string): string => `${below(base, applicationId)}/keys`

const keyOperations = (ask: Ask): ApplicationKeys => ({
  list: (applicationId, options) => ask.plain('GET', keysOf(applicationId), undefined, options),
  create: (applicationId, key = {}, options) =>
    ask.keeping('POST', keysOf(applicationId), key, options),
  get: (applicationId, id, options) =>
    ask.plain('GET', below(keysOf(applicationId), id), undefined, options),
  delete: (applicationId, id, options) =>
    ask.plain('DELETE', below(keysOf(applicationId), id), undefined, options, nothing),
})

/** @internal */
export const applicationOperations = (ask: Ask): Applications => ({
  create: (application, options) => ask.keeping('POST', base, application, options),
  get: (id, options) => ask.plain('GET', below(base, id), undefined, options),
  current: options => ask.plain('GET', `${base}/key`, undefined, options, { is: isApplication }),
  update: (id, application, { confirm = false, ...options } = {}) => {
    const path = withQuery(below(base, id), confirm ? { confirm } : {})
    return ask.keeping('PUT', path, application, options)
  },
  preview: (id, application, options) =>
    ask.plain('PUT', withQuery(below(base, id), { dry_run: true }), application, options),
  regenerate: (id, options) =>
    ask.keeping('POST', `${below(base, id)}/regenerate`, undefined, options),
  delete: (id, options) => ask.plain('DELETE', below(base, id), undefined, options, nothing),
  list: ({ size, limit, ...filter } = {}, options = {}) =>
    walkPages<Application>({ size, limit }, (page, each) => {
      const path = withQuery(base, { ...filter, size: each, page })
      return ask.plain<ApplicationList>('GET', path, undefined, options)
    }),
  keys: keyOperations(ask),
})

/** @internal */
export const tenantOperations = (ask: Ask): TenantSelf => ({
  get: options => ask.plain('GET', '/tenants/self', undefined, options),
  update: (tenant, options) => ask.keeping('PUT', '/tenants/self', tenant, options),
})

/** @internal */
export const permissionOperations = (ask: Ask): Permissions => ({
  list: (types = [], options = {}) =>
    ask.plain('GET', withQuery('/permissions', { application_type: types }), undefined, options),
})
