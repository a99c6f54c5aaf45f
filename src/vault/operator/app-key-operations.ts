/**
 * Operations on the keys of an application, for the operator.
 * Source: contract sections 13 and 15.
 * @module
 */
import { Type } from '@sinclair/typebox'
import {
  createKey,
  deleteKey,
  listKeys,
  type NewKey,
  type ShownKey,
} from '../../applications/key-service.ts'
import { expiryTextCharsMax } from '../../limits/limits.ts'
import { printInstantUtc } from '../../rules/instants.ts'
import { operation, type Administered, type Facts, type Operations } from './operator-operation.ts'
import { actingBy } from './operator.ts'

const closed = { additionalProperties: false }
const tenant = Type.Optional(Type.String())
const ofApplication = { tenant, id: Type.String() }
const listed = Type.Object(ofApplication, closed)
const added = Type.Object(
  {
    ...ofApplication,
    expires_at: Type.Optional(Type.String({ maxLength: expiryTextCharsMax })),
  },
  closed,
)
const revoked = Type.Object({ ...ofApplication, key: Type.String() }, closed)

const show = ({ id, key }: ShownKey): Facts => ({
  id,
  version: key.number + 1,
  created_at: printInstantUtc(key.createdAtMs),
  expires_at: key.expiresAt === undefined ? null : printInstantUtc(key.expiresAt.epochMs),
  last_used_on: key.lastUsedOn ?? null,
})

const showNew = (made: NewKey): Facts => ({ ...show(made), key: made.secret.reveal() })

export const applicationKeyOperations = ({ deps }: Administered): Operations => ({
  'app-key-list': operation('key:read', listed, ({ tenant: asked, id }, _, by) =>
    actingBy(deps, by, asked, async caller => ({
      keys: (await listKeys(deps, caller, id)).map(show),
    })),
  ),
  'app-key-add': operation('key:rotate', added, ({ tenant: asked, id, expires_at: ends }, _, by) =>
    actingBy(deps, by, asked, async caller => ({
      application_id: id,
      ...showNew(await createKey(deps, caller, id, ends)),
    })),
  ),
  'app-key-revoke': operation('key:rotate', revoked, ({ tenant: asked, id, key }, _, by) =>
    actingBy(deps, by, asked, async caller => {
      await deleteKey(deps, caller, id, key)
      return { application_id: id, id: key, revoked: true }
    }),
  ),
})
