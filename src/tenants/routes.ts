/**
 * Operations on tenants. Source: contract section 15.
 *
 * @module
 */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import type { Caller } from '../domain/caller.ts'
import { printInstantUtc } from '../domain/instants.ts'
import { ApiError } from '../errors.ts'
import { hooks } from '../http/hooks.ts'
import { operation } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { openTenant, tenantUnique } from './record.ts'

const tenantSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.Optional(Type.String()),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Tenant' },
)

const tenantExamples = {
  tenant: {
    id: '77cb0024-123e-41a8-8ff8-a3d5a0fa8a08',
    created_at: '2026-03-01T08:00:00.000+00:00',
  },
}

/** The JSON text of the tenant to which the credential belongs. */
async function printOwnTenant({ keys, store }: Deps, { tenantId }: Caller): Promise<string> {
  const row = await store.find(tenantUnique(keys, tenantId))
  if (row === undefined) throw new ApiError('storage_corrupt', 'a credential has no tenant')
  const { id, name, createdAtMs } = openTenant(keys, row)
  return JSON.stringify({ id, name, created_at: printInstantUtc(createdAtMs) })
}

const getOwn = () =>
  operation({
    name: 'getOwnTenant',
    summary: 'Get the tenant of the key that is sent',
    permission: 'tenant:read',
    success: { status: 200, schema: tenantSchema, examples: tenantExamples },
    failures: [401, 403],
  })

export const tenantRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia()
    .use(hooks(pipeline))
    .get(
      '/tenants/self',
      ({ perform }) =>
        perform(async ({ caller }) => ({ status: 200, json: await printOwnTenant(deps, caller) })),
      getOwn(),
    )
