/**
 * Lists the permissions that can be granted, for any application.
 * Source: contract section 15.
 *
 * decision: needs no permission, since the list is the same for all and tells nothing about them.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import {
  applicationTypes,
  mayHold,
  offeredPermissions,
  type ApplicationType,
  type OfferedPermission,
} from '../rules/permissions.ts'
import { invalid } from '../lib/errors.ts'
import { closed, oneOf } from '../lib/schemas.ts'
import { operation } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import type { QueryParameters } from '../http/request.ts'
import { routeOf } from '../http/routes.ts'

const descriptions: Readonly<Record<OfferedPermission, string>> = {
  'token:create': 'Create tokens',
  'token:update': 'Update tokens',
  'token:read': 'Read and list tokens',
  'token:search': 'Search tokens',
  'token:delete': 'Delete tokens',
  'token:use': 'Use the data of tokens in detokenizing',
  'application:read': 'Read and list applications',
  'application:create': 'Create applications',
  'application:update': 'Update applications and regenerate their keys',
  'application:delete': 'Delete applications',
  'session:read': 'List sessions',
  'session:delete': 'End sessions',
  'tenant:read': 'Read the tenant',
  'tenant:update': 'Update the tenant',
  'key:read': 'Read and list application keys',
  'key:rotate': 'Create and revoke application keys',
  'log:read': 'Read the audit log, its proofs and the feed of events',
  'webhook:read': 'Read webhooks and their deliveries',
  'webhook:create': 'Create webhooks',
  'webhook:update': 'Update webhooks, rotate their secrets, send again',
  'webhook:delete': 'Delete webhooks',
  'access:explain': 'Learn which rule decides over a token, without reading it',
  'status:read': 'Read the state of the vault and its settings',
  'expression:preview': 'Evaluate expressions on sample data, without storing it',
}

const permissionSchema = Type.Object(
  {
    type: oneOf(offeredPermissions, 'PermissionName'),
    description: Type.String(),
    application_types: Type.Array(
      Type.String({ title: 'ApplicationType', enum: applicationTypes }),
      { description: 'The types of application that may be given it.' },
    ),
  },
  { title: 'Permission' },
)

const listed = offeredPermissions.map(permission => ({
  type: permission,
  description: descriptions[permission],
  application_types: applicationTypes.filter(type => mayHold(type, permission)),
}))

const isApplicationType = (text: string): text is ApplicationType =>
  applicationTypes.some(type => type === text)

/**
 * Lists the permissions of the requested application types; all permissions without a type.
 * @throws ApiError `invalid_request` for an unknown type of application
 */
function printListed(query: QueryParameters): string {
  const types = query.get('application_type') ?? []
  if (!types.every(isApplicationType)) {
    throw invalid('query.application_type', `expected one of ${applicationTypes.join(', ')}`)
  }
  const isAsked = ({ type }: { readonly type: OfferedPermission }) =>
    types.length === 0 || types.some(each => mayHold(each, type))
  return JSON.stringify(listed.filter(isAsked))
}

/** For the documentation; the handler reads it. */
const listQuery = Type.Object(
  {
    application_type: Type.Optional(
      Type.Union(
        applicationTypes.map(type => Type.Literal(type)),
        { description: 'Only what this type may be given.', examples: ['private'] },
      ),
    ),
  },
  closed,
)

const listAll = () =>
  operation({
    name: 'listPermissions',
    method: 'GET',
    path: '/permissions',
    summary: 'List the permissions',
    permission: undefined,
    callers: applicationTypes,
    query: listQuery,
    success: {
      status: 200,
      schema: Type.Array(permissionSchema),
      examples: { some: listed.slice(0, 2) },
    },
    failures: [400, 401, 403],
    run: ({ query }) => ({ status: 200, json: printListed(query) }),
  })

export const permissionRoutes = (pipeline: Pipeline) =>
  new Elysia().route(...routeOf(pipeline, listAll()))
