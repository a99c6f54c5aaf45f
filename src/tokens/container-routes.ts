/**
 * The operation that lists containers.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { operation, type OperationCall, type Reply } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { routeOf } from '../http/routes.ts'
import { closed } from '../lib/schemas.ts'
import { containersListedMax } from '../limits/limits.ts'
import { normaliseContainer } from '../rules/container-paths.ts'
import { listContainers } from './find/containers.ts'
import { containerExamples } from './token-examples.ts'

const container = Type.String({ description: 'A path such as `/pci/`.' })
const tokens = (description: string) => Type.Integer({ description })

const containerListSchema = Type.Object(
  {
    container,
    tokens: tokens('How many are in it itself.'),
    below: Type.Array(
      Type.Object(
        { container, tokens: tokens('How many are in it and below.') },
        { title: 'ListedContainer' },
      ),
      { description: 'Those one step below, by name.', maxItems: containersListedMax },
    ),
    is_complete: Type.Boolean({
      description: `False if more than ${containersListedMax} are below.`,
    }),
  },
  { title: 'ContainerList' },
)

const query = Type.Object(
  {
    below: Type.Optional(
      Type.String({
        default: '/',
        description: 'A container, with or without tokens.',
        examples: ['/pci/'],
      }),
    ),
  },
  closed,
)

async function list(
  deps: Deps,
  { caller, query: asked, countItems }: OperationCall,
): Promise<Reply> {
  const outer = normaliseContainer(asked.get('below')?.[0] ?? '/', 'query.below')
  const { isComplete, ...listed } = await listContainers(deps, caller, outer, countItems)
  return { status: 200, json: JSON.stringify({ ...listed, is_complete: isComplete }) }
}

const listing = (deps: Deps) =>
  operation({
    name: 'listContainers',
    method: 'GET',
    path: '/containers',
    summary: 'List the containers of the tokens that the key may read, one step below another',
    description: 'Two requests for each container count against the rate.',
    permission: 'token:read',
    readsPages: true,
    query,
    success: { status: 200, schema: containerListSchema, examples: containerExamples },
    failures: [400, 401, 403],
    run: call => list(deps, call),
  })

export const containerRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia().route(...routeOf(pipeline, listing(deps)))
