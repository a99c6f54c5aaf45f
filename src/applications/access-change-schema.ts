/**
 * Wire shape of what simulated changes would show otherwise.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { oneOf } from '../lib/schemas.ts'
import { accessSamplesMax } from '../limits/limits.ts'
import { transforms } from '../rules/access.ts'
import { showingPermissions } from '../rules/access-changes.ts'

const shown = oneOf([...transforms, 'hidden'] as const, 'ShownAs')

const change = Type.Object(
  {
    permission: oneOf(showingPermissions, 'ShowingPermissionName'),
    from: shown,
    to: shown,
    count: Type.Integer({ description: 'Of all stored tokens, exact.' }),
    samples: Type.Array(Type.String(), {
      maxItems: accessSamplesMax,
      description: 'Ids of some, for a key that also holds `log:read`.',
    }),
  },
  { title: 'AccessChange' },
)

export const simulationSchema = Type.Object(
  { changes: Type.Array(change) },
  { title: 'AccessSimulation' },
)
