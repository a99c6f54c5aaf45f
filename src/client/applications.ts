/**
 * Operations on applications, their keys, the tenant and permissions.
 * @module
 */
import { pageSizeMax } from './limits.ts'
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
import type { Ask } from './ask.ts'
import { below, withQuery } from './paths.ts'
import { walkPages } from './walk.ts'
import type { CallOptions } from './wire.ts'

export interface ApplicationFilter {
  readonly id?: readonly string[]
  readonly type?: readonly ApplicationType[]
}

const base = '/applications'

const keyOperations = (ask: Ask) => ({
  list: (applicationId: string, options?: CallOptions): Promise<readonly ApplicationKey[]> =>
    ask.plain('GET', `${below(base, applicationId)}/keys`, undefined, options),

  /** The answer alone holds the key. */
  create: (
    applicationId: string,
    key: CreateApplicationKeyRequest = {},
    options?: CallOptions,
  ): Promise<ApplicationKey & { readonly key: string }> =>
    ask.keeping('POST', `${below(base, applicationId)}/keys`, key, options),

  get: (applicationId: string, id: string, options?: CallOptions): Promise<ApplicationKey> =>
    ask.plain('GET', below(`${below(base, applicationId)}/keys`, id), undefined, options),

  delete: (applicationId: string, id: string, options?: CallOptions): Promise<void> =>
    ask.plain('DELETE', below(`${below(base, applicationId)}/keys`, id), undefined, options),
})

export const applicationOperations = (ask: Ask) => ({
  /** The answer alone holds the key; where it is lost, a repetition fails with `conflict`. */
  create: (
    application: CreateApplicationRequest,
    options?: CallOptions,
  ): Promise<Application & { readonly key: string }> =>
    ask.keeping('POST', base, application, options),

  get: (id: string, options?: CallOptions): Promise<Application> =>
    ask.plain('GET', below(base, id), undefined, options),

  /** The application that the key of the client belongs to. */
  current: (options?: CallOptions): Promise<Application> =>
    ask.plain('GET', `${base}/key`, undefined, options),

  /** What is left out is empty after it. */
  update: (
    id: string,
    application: UpdateApplicationRequest,
    options?: CallOptions,
  ): Promise<Application> => ask.keeping('PUT', below(base, id), application, options),

  /** The key of before is refused from then on. */
  regenerate: (
    id: string,
    options?: CallOptions,
  ): Promise<Application & { readonly key: string }> =>
    ask.keeping('POST', `${below(base, id)}/regenerate`, undefined, options),

  delete: (id: string, options?: CallOptions): Promise<void> =>
    ask.plain('DELETE', below(base, id), undefined, options),

  list: (filter: ApplicationFilter = {}, options?: CallOptions) =>
    walkPages<Application>(page => {
      const path = withQuery(base, { ...filter, size: pageSizeMax, page })
      return ask.plain<ApplicationList>('GET', path, undefined, options)
    }),

  keys: keyOperations(ask),
})

export const tenantOperations = (ask: Ask) => ({
  get: (options?: CallOptions): Promise<Tenant> =>
    ask.plain('GET', '/tenants/self', undefined, options),

  update: (tenant: UpdateTenantRequest, options?: CallOptions): Promise<Tenant> =>
    ask.keeping('PUT', '/tenants/self', tenant, options),
})

export const permissionOperations = (ask: Ask) => ({
  list: (types: readonly ApplicationType[] = [], options?: CallOptions) =>
    ask.plain<readonly Permission[]>(
      'GET',
      withQuery('/permissions', { application_type: types }),
      undefined,
      options,
    ),
})
