/**
 * Wire shape of a change that is to be simulated.
 * @module
 */
import { Type, type Static } from '@sinclair/typebox'
import { closed } from '../lib/schemas.ts'
import { proposedGrantsSchema } from './schema.ts'

export const simulateSchema = Type.Object(
  { application_id: Type.String({ format: 'uuid' }), proposed: proposedGrantsSchema },
  { ...closed, title: 'SimulateAccessRequest' },
)
export type SimulateBody = Static<typeof simulateSchema>
