/**
 * Operations on applications. Source: spec, "Applications"; contract section 3.
 *
 * @module
 */
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { applicationTypes } from '../rules/permissions.ts'
import { invalid } from '../lib/errors.ts'
import { flagOf, operation, type OperationCall, type Reply } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { printPage, readPageRequest } from '../http/paging.ts'
import type { QueryParameters } from '../http/request.ts'
import { routeOf } from '../http/routes.ts'
import { idFilterMax } from '../limits/limits.ts'
import { makeTextCount, noteAbout } from '../records/budgeted.ts'
import {
  applicationExamples,
  applicationListExamples,
  createApplicationExamples,
  newApplicationExamples,
  updateApplicationExamples,
} from './application-examples.ts'
import {
  applicationListSchema,
  applicationSchema,
  createApplicationSchema,
  listApplicationsQuery,
  updateApplicationQuery,
  updateApplicationSchema,
  type UpdateApplicationBody,
} from './schema.ts'
import { printApplication } from './application-record.ts'
import {
  createApplication,
  deleteApplication,
  getApplication,
  listApplications,
  regenerateKey,
  type NewApplication,
} from './application-service.ts'
import { assertMaySimulate, changesBetween, type SimulateDeps } from './simulate.ts'
import { previewUpdate, updateApplication } from './update-application.ts'

const contentType = 'application/json'
const opaque: ReadonlySet<string> = new Set()

const newApplication = {
  contentType,
  schema: createApplicationSchema,
  examples: createApplicationExamples,
  opaque,
} as const

const changes = {
  contentType,
  schema: updateApplicationSchema,
  examples: updateApplicationExamples,
  opaque,
} as const

const oneApplication = {
  status: 200,
  schema: applicationSchema,
  examples: applicationExamples,
} as const

const shown = ({ record, key }: NewApplication): string =>
  printApplication(record, { key: key.reveal() })

export function idsOf(query: QueryParameters): readonly string[] {
  const ids = query.get('id') ?? []
  if (ids.length > idFilterMax) throw invalid('query.id', `expected at most ${idFilterMax} values`)
  return ids
}

async function list(deps: Deps, { caller, query }: OperationCall): Promise<Reply> {
  const request = readPageRequest(query)
  const filter = {
    ids: idsOf(query),
    types: query.get('type') ?? [],
    offset: (request.page - 1) * request.size,
    limit: request.size,
  }
  const texts = makeTextCount(caller)
  const { total, items } = await listApplications(deps, caller, filter, record => {
    const text = printApplication(record)
    texts.add(text)
    texts.reserve()
    return text
  })
  return { status: 200, json: printPage(request, total, items) }
}

const made = (application: NewApplication): Reply => ({
  status: 201,
  json: shown(application),
  madeId: application.record.id,
})

const one = (record: Parameters<typeof printApplication>[0]): Reply => ({
  status: 200,
  json: printApplication(record),
})

const create = (deps: Deps) =>
  operation({
    name: 'createApplication',
    method: 'POST',
    path: '/applications',
    about: 'object',
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
    run: async ({ caller }, body) => made(await createApplication(deps, caller, body)),
  })

const listAll = (deps: Deps) =>
  operation({
    name: 'listApplications',
    method: 'GET',
    path: '/applications',
    readsPages: true,
    summary: 'List applications, newest first',
    permission: 'application:read',
    query: listApplicationsQuery,
    success: { status: 200, schema: applicationListSchema, examples: applicationListExamples },
    failures: [400, 401, 403, 404],
    run: call => list(deps, call),
  })

const getOwn = (deps: Deps) =>
  operation({
    name: 'getOwnApplication',
    method: 'GET',
    path: '/applications/key',
    summary: 'Get the application of the key that is sent',
    permission: undefined,
    callers: applicationTypes,
    success: oneApplication,
    failures: [401, 403, 404],
    run: async ({ caller }) => one(await getApplication(deps, caller, caller.applicationId)),
  })

const get = (deps: Deps) =>
  operation({
    name: 'getApplication',
    method: 'GET',
    path: '/applications/:id',
    about: 'object',
    summary: 'Get an application',
    permission: 'application:read',
    // An application may read itself; a session is not an application (contract section 13).
    isOwn: ({ type, applicationId }, { id }) =>
      type !== 'session' && id?.toLowerCase() === applicationId,
    success: oneApplication,
    failures: [401, 403, 404],
    run: async ({ caller, params }) => one(await getApplication(deps, caller, params.id)),
  })

/** Shows the application as it would be, and in `_extras` what it would see otherwise. */
async function preview(
  deps: SimulateDeps,
  call: OperationCall,
  id: string,
  body: UpdateApplicationBody,
): Promise<Reply> {
  assertMaySimulate(call.caller)
  const pair = await previewUpdate(deps, call.caller, id, body)
  noteAbout(call.caller, pair.before.id)
  const changes = await changesBetween(deps, call, pair)
  return { status: 200, json: printApplication(pair.after, { changes }) }
}

async function replace(
  deps: SimulateDeps,
  call: OperationCall,
  id: string,
  body: UpdateApplicationBody,
): Promise<Reply> {
  const { caller, query } = call
  const isConfirmed = flagOf(query, 'confirm')
  if (flagOf(query, 'dry_run')) return preview(deps, call, id, body)
  return one(await updateApplication(deps, caller, id, body, isConfirmed))
}

const update = (deps: SimulateDeps) =>
  operation({
    name: 'updateApplication',
    dryRunName: 'previewApplication',
    readsPages: true,
    method: 'PUT',
    path: '/applications/:id',
    about: 'object',
    summary: 'Replace name, permissions and rules',
    permission: 'application:update',
    query: updateApplicationQuery,
    body: changes,
    success: oneApplication,
    failures: [400, 401, 403, 404, 409, 413, 415],
    run: (call, body) => replace(deps, call, call.params.id, body),
    replay: async ({ caller, params }) => one(await getApplication(deps, caller, params.id)),
  })

const regenerate = (deps: Deps) =>
  operation({
    name: 'regenerateKey',
    method: 'POST',
    path: '/applications/:id/regenerate',
    about: 'object',
    summary: 'Make a new key; every other one is dead at once',
    permission: 'application:update',
    success: { status: 200, schema: applicationSchema, examples: newApplicationExamples },
    failures: [401, 403, 404, 409],
    run: async ({ caller, params }) => ({
      status: 200,
      json: shown(await regenerateKey(deps, caller, params.id)),
    }),
  })

const remove = (deps: Deps) =>
  operation({
    name: 'deleteApplication',
    method: 'DELETE',
    path: '/applications/:id',
    about: 'object',
    summary: 'Delete an application',
    permission: 'application:delete',
    success: { status: 204 },
    failures: [401, 403, 404, 409],
    async run({ caller, params }) {
      await deleteApplication(deps, caller, params.id)
      return { status: 204 }
    },
  })

/** All seven operations of the spec. */
export const applicationRoutes = (deps: SimulateDeps, pipeline: Pipeline) =>
  new Elysia()
    .route(...routeOf(pipeline, create(deps)))
    .route(...routeOf(pipeline, listAll(deps)))
    .route(...routeOf(pipeline, getOwn(deps)))
    .route(...routeOf(pipeline, get(deps)))
    .route(...routeOf(pipeline, update(deps)))
    .route(...routeOf(pipeline, regenerate(deps)))
    .route(...routeOf(pipeline, remove(deps)))
