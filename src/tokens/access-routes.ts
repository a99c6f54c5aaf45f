/**
 * Operations that tell about access without showing tokens.
 * @module
 */
import { Elysia } from 'elysia'
import { operation } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { routeOf } from '../http/routes.ts'
import { accessExamples, explainExamples } from './access/access-examples.ts'
import type { AccessDeps } from './access/access-deps.ts'
import { explain } from './access/explain-access.ts'
import { accessSchema, explainSchema } from './access/schema.ts'

const contentType = 'application/json'
const opaque: ReadonlySet<string> = new Set()

const explaining = (deps: AccessDeps) =>
  operation({
    name: 'explainAccess',
    method: 'POST',
    path: '/access/explain',
    summary: 'Explain what an application would get of a token, and which rule decides',
    permission: 'access:explain',
    body: { contentType, schema: explainSchema, examples: explainExamples, opaque },
    success: { status: 200, schema: accessSchema, examples: accessExamples },
    failures: [400, 401, 403, 404, 413, 415],
    run: async ({ caller }, body) => ({ status: 200, json: await explain(deps, caller, body) }),
  })

export const accessRoutes = (deps: AccessDeps, pipeline: Pipeline) =>
  new Elysia().route(...routeOf(pipeline, explaining(deps)))
