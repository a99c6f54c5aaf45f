/**
 * Operations that list the audit log. Source: contract section 17.
 * @module
 */
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { entityTypeNames } from '../http/audited.ts'
import { operation, type OperationCall, type Reply } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { printPage, printStretch, readPartRequest } from '../http/paging.ts'
import { routeOf } from '../http/routes.ts'
import { logEntriesOpenedMax } from '../limits/work-limits.ts'
import { listLogPage, listLogStretch } from './list-entries.ts'
import { logListExamples } from './log-examples.ts'
import { readLogFilter } from './log-filters.ts'
import { entityTypesSchema, listLogsQuery, logListSchema } from './schema.ts'

async function list(deps: Deps, call: OperationCall): Promise<Reply> {
  const { caller, query } = call
  const request = readPartRequest(query)
  const filter = readLogFilter(query, caller.tenantId)
  if ('page' in request) {
    const { items, total } = await listLogPage(deps, caller, filter, request)
    return { status: 200, json: printPage(request, total, items) }
  }
  const { items, next } = await listLogStretch(deps, caller, filter, request)
  return { status: 200, json: printStretch(request.size, next, items) }
}

const description = `
Entries of the own tenant: what was asked, by whom, of what, and what was decided; never data. All
filters must match. \`trace_id\` and \`from\` are compared one entry after the other, at most
${logEntriesOpenedMax} of them for a request: a page that needs more is 400, and a stretch of a walk
ends there, so that it may have few entries or none and still a \`next\`. Reading the log is an
entry itself, a moment later.`.trim()

const listAll = (deps: Deps) =>
  operation({
    name: 'listLogs',
    method: 'GET',
    path: '/logs',
    readsPages: true,
    summary: 'List entries of the audit log, newest first',
    description,
    permission: 'log:read',
    query: listLogsQuery,
    success: { status: 200, schema: logListSchema, examples: logListExamples },
    failures: [400, 401, 403],
    run: call => list(deps, call),
  })

const entityTypes = entityTypeNames.map(value => ({
  display_name: value.replace(/^./, first => first.toUpperCase()),
  value,
}))

const listTypes = () =>
  operation({
    name: 'listLogEntityTypes',
    method: 'GET',
    path: '/logs/entity-types',
    summary: 'List the kinds of things that entries of the audit log are about',
    permission: 'log:read',
    success: {
      status: 200,
      schema: entityTypesSchema,
      examples: { some: entityTypes.slice(0, 2) },
    },
    failures: [401, 403],
    run: () => ({ status: 200, json: JSON.stringify(entityTypes) }),
  })

export const logRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia().route(...routeOf(pipeline, listAll(deps))).route(...routeOf(pipeline, listTypes()))
