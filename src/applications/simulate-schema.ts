/**
 * Wire shapes of simulated changes.
 * @module
 */
import { Type, type Static } from '@sinclair/typebox'
import { closed, oneOf } from '../lib/schemas.ts'
import { accessSamplesMax } from '../limits/limits.ts'
import { transforms } from '../rules/access.ts'
import { showingPermissions } from '../rules/access-changes.ts'
import { proposedGrantsSchema } from './schema.ts'

export const simulateSchema = Type.Object(
  { application_id: Type.String({ format: 'uuid' }), proposed: proposedGrantsSchema },
  { ...closed, title: 'SimulateAccessRequest' },
)
export type SimulateBody = Static<typeof simulateSchema>

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
