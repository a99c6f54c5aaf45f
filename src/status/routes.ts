/**
 * The state of the vault: of the processes that serve it, and of their settings. Source: contract
 * section 19.
 *
 * decision: it is the operator's, who made the first tenant with the vault; another tenant would
 * learn how much others do.
 * @module
 */
import { Elysia } from 'elysia'
import type { Reports } from '../deps.ts'
import { operation, type OperationCall, type Reply } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { routeOf } from '../http/routes.ts'
import { ApiError } from '../lib/errors.ts'
import type { Caller } from '../rules/caller.ts'
import { historySchema, settingsListSchema, statusSchema } from './schema.ts'
import { historyExamples, settingsExamples, statusExamples } from './status-examples.ts'

export interface StatusDeps {
  readonly reports: Reports
  /** True of the tenant that was made with the vault. */
  readonly isFirstTenant: (tenantId: string) => Promise<boolean>
  /** Resolves once long work for the caller may begin. */
  readonly nextTurn: (caller: Caller) => Promise<void>
}

const notFirst = 'expected a credential of the first tenant: this tells of the whole installation'

/** @throws ApiError `forbidden` to other tenants, `unavailable` */
const tell =
  ({ isFirstTenant, nextTurn }: StatusDeps, read: () => Promise<object>) =>
  async ({ caller }: OperationCall): Promise<Reply> => {
    if (!(await isFirstTenant(caller.tenantId))) throw new ApiError('forbidden', notFirst)
    // Milliseconds of work, which hundreds of them would do at once.
    await nextTurn(caller)
    return { status: 200, json: JSON.stringify(await read()) }
  }

const common = {
  method: 'GET',
  permission: 'status:read',
  readsPages: true,
  failures: [401, 403],
} as const

const getStatus = (deps: StatusDeps) =>
  operation({
    ...common,
    name: 'getStatus',
    path: '/status',
    summary: 'Tell whether the vault is well',
    description:
      'All processes that serve together, for the tenant that was made with the vault. Members ' +
      'that are not known now are absent.',
    success: { status: 200, schema: statusSchema, examples: statusExamples },
    run: tell(deps, deps.reports.status),
  })

const getHistory = (deps: StatusDeps) =>
  operation({
    ...common,
    name: 'getStatusHistory',
    path: '/status/history',
    summary: 'Tell of the last hour in samples',
    description: 'They are in memory alone, and begin with the server.',
    success: { status: 200, schema: historySchema, examples: historyExamples },
    run: tell(deps, deps.reports.history),
  })

const listSettings = (deps: StatusDeps) =>
  operation({
    ...common,
    name: 'listSettings',
    path: '/status/settings',
    summary: 'List the settings in force, and where each comes from',
    description: 'Of secrets, and of places on the machine, only that they are set.',
    success: { status: 200, schema: settingsListSchema, examples: settingsExamples },
    run: tell(deps, deps.reports.settings),
  })

export const statusRoutes = (deps: StatusDeps, pipeline: Pipeline) =>
  new Elysia()
    .route(...routeOf(pipeline, getStatus(deps)))
    .route(...routeOf(pipeline, getHistory(deps)))
    .route(...routeOf(pipeline, listSettings(deps)))
