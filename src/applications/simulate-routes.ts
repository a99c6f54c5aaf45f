/**
 * The operation that simulates a change of grants.
 * @module
 */
import { Elysia } from 'elysia'
import { operation } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { routeOf } from '../http/routes.ts'
import { simulate, type SimulateDeps } from './simulate.ts'
import { simulationSchema } from './access-change-schema.ts'
import { simulateSchema } from './simulate-schema.ts'

const examples = {
  wider: {
    application_id: '0e3a9d3c-5d0f-4ac5-b4cb-3f0f2c7c5a44',
    proposed: {
      rules: [
        { priority: 1, container: '/pci/', transform: 'reveal', permissions: ['token:read'] },
      ],
    },
  },
}

const simulated = {
  some: {
    changes: [
      { permission: 'token:read', from: 'mask', to: 'reveal', count: 1_204, samples: ['order-17'] },
    ],
  },
}

const simulating = (deps: SimulateDeps) =>
  operation({
    name: 'simulateAccess',
    method: 'POST',
    path: '/access/simulate',
    summary: 'Count the tokens that an application would see otherwise with other grants',
    permission: 'access:explain',
    body: {
      contentType: 'application/json',
      schema: simulateSchema,
      examples,
      opaque: new Set<string>(),
    },
    readsPages: true,
    success: { status: 200, schema: simulationSchema, examples: simulated },
    failures: [400, 401, 403, 404, 413, 415],
    run: async (call, body) => ({ status: 200, json: await simulate(deps, call, body) }),
  })

export const simulateRoutes = (deps: SimulateDeps, pipeline: Pipeline) =>
  new Elysia().route(...routeOf(pipeline, simulating(deps)))
