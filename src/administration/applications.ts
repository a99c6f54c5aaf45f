/**
 * Operations on applications, for whoever runs the vault and may have lost every key.
 * Source: contract section 13.
 * @module
 */
import { Type } from '@sinclair/typebox'
import {
  createApplication,
  deleteApplication,
  listApplications,
  regenerateKey,
  type NewApplication,
} from '../applications/service.ts'
import type { ApplicationRecord } from '../applications/record.ts'
import { nameCharsMax, pageSizeMax } from '../limits.ts'
import { mayHold, permissions } from '../rules/permissions.ts'
import { printInstantUtc } from '../rules/instants.ts'
import { operation, type Administered, type Facts, type Operations } from './operation.ts'
import { asOperator, nobodysTurn } from './operator.ts'

const tenant = Type.Optional(Type.String())

const named = Type.Object({ tenant, id: Type.String() }, { additionalProperties: false })

const created = Type.Object(
  { tenant, name: Type.String({ minLength: 1, maxLength: nameCharsMax }) },
  { additionalProperties: false },
)

const show = ({ id, name, type, createdAtMs, expiresAt }: ApplicationRecord): Facts => ({
  id,
  name,
  type,
  created_at: printInstantUtc(createdAtMs),
  expires_at: expiresAt === undefined ? null : printInstantUtc(expiresAt.epochMs),
})

const showNew = ({ record, key }: NewApplication): Facts => ({
  tenant_id: record.tenantId,
  application_id: record.id,
  key: key.reveal(),
})

/** A management application that may do all that one may. */
const manager = (name: string) => ({
  name,
  type: 'management' as const,
  permissions: permissions.filter(permission => mayHold('management', permission)),
})

export const applicationOperations = ({ deps }: Administered): Operations => ({
  'app-create': operation(created, ({ tenant: asked, name }) =>
    asOperator(deps, asked, async caller =>
      showNew(await createApplication(deps, caller, manager(name))),
    ),
  ),
  'app-list': operation(Type.Object({ tenant }), ({ tenant: asked }) =>
    asOperator(deps, asked, async caller => {
      const all: ApplicationRecord[] = []
      for (;;) {
        const filter = { ids: [], types: [], offset: all.length, limit: pageSizeMax }
        const { records } = await listApplications(deps, caller, filter)
        all.push(...records)
        if (records.length < pageSizeMax) return { applications: all.map(show) }
        await deps.turns.next(nobodysTurn)
      }
    }),
  ),
  'app-regenerate': operation(named, ({ tenant: asked, id }) =>
    asOperator(deps, asked, async caller => showNew(await regenerateKey(deps, caller, id))),
  ),
  'app-delete': operation(named, ({ tenant: asked, id }) =>
    asOperator(deps, asked, async caller => {
      await deleteApplication(deps, caller, id)
      return { application_id: id, deleted: true }
    }),
  ),
})
