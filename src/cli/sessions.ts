/**
 * `coffer session create | authorize` and `coffer permissions`, as callers of the vault.
 * @module
 */
import type { ApplicationType, SessionGrants } from '../client/index.ts'
import { sayJson, sayNow } from '../server/process/system.ts'
import { toPlain } from '../lib/json/json.ts'
import { readJsonInput } from './input.ts'
import { withClient, type ReachOptions } from './reach.ts'
import { printTable, tableOf } from './table.ts'

/** With the key of a public application. Its own keys are shown once. */
export const createSession = (options: ReachOptions): Promise<void> =>
  withClient(options, async ({ sessions }) => {
    const session = await sessions.create()
    if (options.json === true) return sayJson(session)
    for (const [name, value] of Object.entries(session)) {
      sayNow(`${name.replaceAll('_', ' ').padEnd(12)}${value}`)
    }
  })

/** Standard input is the request: the nonce, and what is granted. */
export const authorizeSession = (options: ReachOptions): Promise<void> =>
  withClient(options, async ({ sessions }) => {
    await sessions.authorize(toPlain(readJsonInput('the nonce and the grants')) as SessionGrants)
    sayNow(options.json === true ? '{"authorized":true}' : 'The session is authorized.')
  })

export interface PermissionOptions extends ReachOptions {
  readonly type?: ApplicationType
}

export const showPermissions = (options: PermissionOptions): Promise<void> =>
  withClient(options, async ({ permissions }) => {
    const known = await permissions.list(options.type === undefined ? [] : [options.type])
    if (options.json === true) return sayJson({ permissions: known })
    const rows = known.map(each => ({ ...each, types: each.application_types.join(', ') }))
    printTable(tableOf(rows, ['type', 'types', 'description']))
  })
