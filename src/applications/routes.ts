/**
 * Operations on applications as data. Source: spec, "Applications"; contract section 3.
 *
 * @module
 */
import type { Deps } from '../deps.ts'
import { applicationTypes } from '../domain/permissions.ts'
import { invalid } from '../errors.ts'
import { printPage, readPageRequest, type QueryParameters } from '../http/query.ts'
import type { BodyRule, Call, Reply, Route } from '../http/route.ts'
import { idFilterMax } from '../limits.ts'
import {
  applicationExamples,
  applicationListExamples,
  createApplicationExamples,
  newApplicationExamples,
  updateApplicationExamples,
} from './examples.ts'
import {
  applicationListSchema,
  applicationSchema,
  createApplicationSchema,
  listApplicationsQuery,
  updateApplicationSchema,
  type CreateApplicationBody,
  type UpdateApplicationBody,
} from './model.ts'
import { printApplication } from './record.ts'
import {
  createApplication,
  deleteApplication,
  getApplication,
  listApplications,
  regenerateKey,
  updateApplication,
  type NewApplication,
} from './service.ts'

const contentType = 'application/json'
const opaque: ReadonlySet<string> = new Set()

const newApplication: BodyRule = {
  contentType,
  schema: createApplicationSchema,
  examples: createApplicationExamples,
  opaque,
}

const changes: BodyRule = {
  contentType,
  schema: updateApplicationSchema,
  examples: updateApplicationExamples,
  opaque,
}

const oneApplication = {
  status: 200,
  schema: applicationSchema,
  examples: applicationExamples,
} as const

const idOf = (call: Pick<Call, 'params'>): string => call.params['id'] ?? ''

const shown = ({ record, key }: NewApplication): string => printApplication(record, key.reveal())

export function idsOf(query: QueryParameters): readonly string[] {
  const ids = query.get('id') ?? []
  if (ids.length > idFilterMax) throw invalid('query.id', `expected at most ${idFilterMax} values`)
  return ids
}

async function list(deps: Deps, { caller, query }: Call): Promise<Reply> {
  const request = readPageRequest(query)
  const { total, records } = await listApplications(deps, caller, {
    ids: idsOf(query),
    types: query.get('type') ?? [],
    offset: (request.page - 1) * request.size,
    limit: request.size,
  })
  const items = records.map(record => printApplication(record))
  return { status: 200, json: printPage(request, total, items) }
}

async function create(deps: Deps, { caller, body }: Call): Promise<Reply> {
  const made = await createApplication(deps, caller, body as CreateApplicationBody)
  return { status: 201, json: shown(made), location: `/applications/${made.record.id}` }
}

async function regenerate(deps: Deps, call: Call): Promise<Reply> {
  return { status: 200, json: shown(await regenerateKey(deps, call.caller, idOf(call))) }
}

const one = (record: Parameters<typeof printApplication>[0]): Reply => ({
  status: 200,
  json: printApplication(record),
})

const createRoute = (deps: Deps): Route => ({
  name: 'createApplication',
  method: 'POST',
  path: '/applications',
  summary: 'Create an application; the answer holds its key, once',
  permission: 'application:create',
  body: newApplication,
  success: {
    status: 201,
    schema: applicationSchema,
    examples: newApplicationExamples,
    hasLocation: true,
  },
  failures: [400, 401, 403, 409, 413, 415],
  handle: call => create(deps, call),
})

const readRoutes = (deps: Deps): readonly Route[] => [
  {
    name: 'listApplications',
    method: 'GET',
    path: '/applications',
    summary: 'List applications, newest first',
    permission: 'application:read',
    query: listApplicationsQuery,
    success: {
      status: 200,
      schema: applicationListSchema,
      examples: applicationListExamples,
    },
    failures: [400, 401, 403, 404],
    handle: call => list(deps, call),
  },
  {
    name: 'getOwnApplication',
    method: 'GET',
    path: '/applications/key',
    isReserved: true,
    summary: 'Get the application of the key that is sent',
    permission: undefined,
    callers: applicationTypes,
    success: oneApplication,
    failures: [401, 403, 404],
    handle: async ({ caller }) => one(await getApplication(deps, caller, caller.applicationId)),
  },
  {
    name: 'getApplication',
    method: 'GET',
    path: '/applications/:id',
    summary: 'Get an application',
    permission: 'application:read',
    // Every application reads itself; a session is none (contract section 13).
    isOwn: ({ type, applicationId }, { id }) =>
      type !== 'session' && id?.toLowerCase() === applicationId,
    success: oneApplication,
    failures: [401, 403, 404],
    handle: async call => one(await getApplication(deps, call.caller, idOf(call))),
  },
]

const changeRoutes = (deps: Deps): readonly Route[] => [
  {
    name: 'updateApplication',
    method: 'PUT',
    path: '/applications/:id',
    summary: 'Replace name, permissions and rules',
    permission: 'application:update',
    body: changes,
    success: oneApplication,
    failures: [400, 401, 403, 404, 409, 413, 415],
    handle: async call =>
      one(
        await updateApplication(deps, call.caller, idOf(call), call.body as UpdateApplicationBody),
      ),
    replay: async call => one(await getApplication(deps, call.caller, idOf(call))),
  },
  {
    name: 'regenerateKey',
    method: 'POST',
    path: '/applications/:id/regenerate',
    summary: 'Make a new key; every other one is dead at once',
    permission: 'application:update',
    success: { status: 200, schema: applicationSchema, examples: newApplicationExamples },
    failures: [401, 403, 404, 409],
    handle: call => regenerate(deps, call),
  },
  {
    name: 'deleteApplication',
    method: 'DELETE',
    path: '/applications/:id',
    summary: 'Delete an application',
    permission: 'application:delete',
    success: { status: 204 },
    failures: [401, 403, 404, 409],
    handle: async call => {
      await deleteApplication(deps, call.caller, idOf(call))
      return { status: 204 }
    },
  },
]

/** All seven operations of the spec. */
export const applicationRoutes = (deps: Deps): readonly Route[] => [
  createRoute(deps),
  ...readRoutes(deps),
  ...changeRoutes(deps),
]
