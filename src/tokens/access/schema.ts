/**
 * Wire shapes of what tells about access.
 * @module
 */
import { Type, type Static } from '@sinclair/typebox'
import { closed, nullable, oneOf } from '../../lib/schemas.ts'
import { conditionAttributes, conditionOperators, transforms } from '../../rules/access.ts'
import { tokenPermissions } from '../../rules/permissions.ts'
import { containersMax, tokenIdCharsMax } from '../../limits/limits.ts'
import { decisions, maskEffects } from './print-explanation.ts'
import { tokenOperationNames } from './token-operations.ts'

const permission = oneOf(tokenPermissions, 'TokenPermissionName')

export const explainSchema = Type.Object(
  {
    application_id: nullable(
      Type.String({ format: 'uuid', description: 'Whose access; or give a session.' }),
    ),
    session_id: nullable(
      Type.String({ format: 'uuid', description: 'For a key that also holds `session:read`.' }),
    ),
    permission: nullable(permission),
    operation: nullable(oneOf(tokenOperationNames, 'TokenOperationName')),
    token_id: nullable(
      Type.String({ maxLength: tokenIdCharsMax, description: 'A token; or give a place.' }),
    ),
    place: nullable(
      Type.Object(
        {
          id: nullable(Type.String({ maxLength: tokenIdCharsMax })),
          containers: Type.Array(Type.String(), { minItems: 1, maxItems: containersMax }),
        },
        { ...closed, title: 'TokenPlace', description: 'Where a token would be.' },
      ),
    ),
  },
  { ...closed, title: 'ExplainAccessRequest' },
)
export type ExplainBody = Static<typeof explainSchema>

const conditionStep = Type.Object(
  {
    attribute: oneOf(conditionAttributes, 'ConditionAttribute'),
    operator: oneOf(conditionOperators, 'ConditionOperator'),
    holds: Type.Boolean(),
  },
  { title: 'ConditionStep' },
)

const step = Type.Object(
  {
    rule: Type.String({ description: '`rule 0` by its place, or the plain permission.' }),
    priority: Type.Optional(Type.Integer()),
    container: Type.Optional(Type.String()),
    transform: Type.Optional(oneOf(transforms, 'Transform')),
    holds_permission: Type.Boolean(),
    covers: Type.Boolean(),
    conditions: Type.Optional(Type.Array(conditionStep)),
    decides: Type.Boolean(),
  },
  { title: 'AccessStep' },
)

const explained = {
  decision: oneOf(decisions, 'AccessDecision'),
  status: Type.Integer({ description: 'Of the answer to such a request.' }),
  permission,
  decided_by: Type.String({ description: 'As entries of the audit log name it.' }),
  steps: Type.Array(step, { description: 'In their order; the first that fits decides.' }),
  text: Type.String({ description: 'The same in one sentence.' }),
}

/** In `_extras` of a token, for its own caller. */
export const ownAccessSchema = Type.Object(explained, { title: 'OwnAccess' })

export const accessSchema = Type.Object(
  { ...explained, mask_effect: Type.Optional(oneOf(maskEffects, 'MaskEffect')) },
  { title: 'Access' },
)
