/**
 * Operations on applications, for an operator who may have lost every API key. Source: contract
 * section 13.
 * @module
 */
import { Type, type Static } from '@sinclair/typebox'
import {
  createApplication,
  deleteApplication,
  listApplications,
  regenerateKey,
  type NewApplication,
} from '../../applications/application-service.ts'
import { createApplicationSchema, type CreateApplicationBody } from '../../applications/schema.ts'
import type { Deps } from '../../deps.ts'
import { serial } from '../../lib/serial.ts'
import type { Caller } from '../../rules/caller.ts'
import type { ApplicationRecord } from '../../applications/application-record.ts'
import { nameCharsMax, pageSizeMax } from '../../limits/limits.ts'
import { mayHold, permissions } from '../../rules/permissions.ts'
import { printInstantUtc } from '../../rules/instants.ts'
import { assertHolds } from './operator-proof.ts'
import { operation, type Administered, type Facts, type Operations } from './operator-operation.ts'
import { actingBy } from './operator.ts'

const tenant = Type.Optional(Type.String())

const named = Type.Object({ tenant, id: Type.String() }, { additionalProperties: false })

const { type, permissions: granted, rules } = createApplicationSchema.properties

/** A manager by default. */
const created = Type.Object(
  {
    tenant,
    name: Type.String({ minLength: 1, maxLength: nameCharsMax }),
    type: Type.Optional(type),
    permissions: granted,
    rules,
    if_absent: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

type Created = Static<typeof created>

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

/** By default a management application may do everything that its type may hold. */
function bodyOf(asked: Created): CreateApplicationBody {
  const { name, type: kind = 'management', permissions: some, rules: ruled } = asked
  const all = permissions.filter(permission => mayHold('management', permission))
  const held = kind === 'management' ? (some ?? all) : some
  return {
    name,
    type: kind,
    ...(held == null ? {} : { permissions: held }),
    ...(ruled == null ? {} : { rules: ruled }),
  }
}

/** Names are sealed, so finding one opens every application. */
async function findNamed(
  deps: Deps,
  caller: Caller,
  name: string,
): Promise<ApplicationRecord | undefined> {
  for (let offset = 0; ; offset += pageSizeMax) {
    const filter = { ids: [], types: [], offset, limit: pageSizeMax }
    const { items } = await listApplications(deps, caller, filter, record => record)
    const found = items.find(record => record.name === name)
    if (found !== undefined || items.length < pageSizeMax) return found
  }
}

async function create(deps: Deps, caller: Caller, asked: Created): Promise<Facts> {
  const body = bodyOf(asked)
  if (asked.if_absent !== true) return showNew(await createApplication(deps, caller, body))
  assertHolds(caller, 'application:read')
  const found = await findNamed(deps, caller, asked.name)
  if (found === undefined) {
    return { ...showNew(await createApplication(deps, caller, body)), created: true }
  }
  return { tenant_id: found.tenantId, application_id: found.id, created: false }
}

/**
 * Serialized: of two callers who ask at once for an absent application, the second finds the one
 * that the first made. Processes that share a database each make their own (docs/operations.md).
 */
const serially = serial()

export const applicationOperations = ({ deps }: Administered): Operations => ({
  'app-create': operation('application:create', created, (asked, _, by) =>
    serially(() => actingBy(deps, by, asked.tenant, caller => create(deps, caller, asked))),
  ),
  'app-list': operation('application:read', Type.Object({ tenant }), ({ tenant: asked }, _, by) =>
    actingBy(deps, by, asked, async caller => {
      const all: Facts[] = []
      for (;;) {
        const filter = { ids: [], types: [], offset: all.length, limit: pageSizeMax }
        const { items } = await listApplications(deps, caller, filter, show)
        all.push(...items)
        if (items.length < pageSizeMax) return { applications: all }
      }
    }),
  ),
  'app-regenerate': operation('application:update', named, ({ tenant: asked, id }, _, by) =>
    actingBy(deps, by, asked, async caller => showNew(await regenerateKey(deps, caller, id))),
  ),
  'app-delete': operation('application:delete', named, ({ tenant: asked, id }, _, by) =>
    actingBy(deps, by, asked, async caller => {
      await deleteApplication(deps, caller, id)
      return { application_id: id, deleted: true }
    }),
  ),
})
