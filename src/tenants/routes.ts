/**
 * Operations on tenants. Source: contract section 15.
 *
 * @module
 */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { printInstantUtc } from '../rules/instants.ts'
import { operation, type Reply } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { routeOf } from '../http/routes.ts'
import { nameCharsMax } from '../limits/limits.ts'
import type { TenantRecord } from './tenant-record.ts'
import { getOwnTenant, renameOwnTenant } from './tenant-service.ts'

const tenantSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    owner_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'The application that was made with the tenant, also when it is gone.',
      }),
    ),
    name: Type.Optional(Type.String()),
    created_at: Type.String({ format: 'date-time' }),
    modified_by: Type.Optional(Type.String({ format: 'uuid' })),
    modified_at: Type.Optional(Type.String({ format: 'date-time' })),
  },
  { title: 'Tenant' },
)

const updateTenantSchema = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: nameCharsMax }) },
  { title: 'UpdateTenantRequest' },
)

const tenantExamples = {
  tenant: {
    id: '77cb0024-123e-41a8-8ff8-a3d5a0fa8a08',
    owner_id: '1b6f6b9a-3f5e-4e0b-9a53-2f0c1a7a9d10',
    name: 'Shop',
    created_at: '2026-03-01T08:00:00.000+00:00',
  },
}

const shown = (record: TenantRecord): Reply => ({
  status: 200,
  json: JSON.stringify({
    id: record.id,
    owner_id: record.ownerId,
    name: record.name,
    created_at: printInstantUtc(record.createdAtMs),
    modified_by: record.modifiedBy,
    modified_at:
      record.modifiedAtMs === undefined ? undefined : printInstantUtc(record.modifiedAtMs),
  }),
})

const oneTenant = { status: 200, schema: tenantSchema, examples: tenantExamples } as const

const getOwn = (deps: Deps) =>
  operation({
    name: 'getOwnTenant',
    method: 'GET',
    path: '/tenants/self',
    summary: 'Get the tenant of the key that is sent',
    permission: 'tenant:read',
    success: oneTenant,
    failures: [401, 403],
    run: async ({ caller }) => shown(await getOwnTenant(deps, caller)),
  })

const updateOwn = (deps: Deps) =>
  operation({
    name: 'updateOwnTenant',
    method: 'PUT',
    path: '/tenants/self',
    summary: 'Rename the tenant of the key that is sent',
    permission: 'tenant:update',
    body: {
      contentType: 'application/json',
      schema: updateTenantSchema,
      opaque: new Set<string>(),
      examples: { name: { name: 'Shop' } },
    },
    success: oneTenant,
    failures: [400, 401, 403, 409, 413, 415],
    run: async ({ caller }, { name }) => shown(await renameOwnTenant(deps, caller, name)),
    replay: async ({ caller }) => shown(await getOwnTenant(deps, caller)),
  })

export const tenantRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia()
    .route(...routeOf(pipeline, getOwn(deps)))
    .route(...routeOf(pipeline, updateOwn(deps)))
