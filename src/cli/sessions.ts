/**
 * `coffer session list | end`, with the master key, and `coffer session create | authorize`, as
 * callers of the vault.
 * @module
 */
import type { Command } from 'commander'
import type { SessionGrants } from '../client/index.ts'
import type { Facts } from '../vault/operator/operator-operation.ts'
import { sayJson, sayNow } from '../server/process/system.ts'
import { toPlain } from '../lib/json/json.ts'
import { readJsonInput } from './input.ts'
import { operate } from './operate.ts'
import { takesCaller, withClient, type ReachOptions } from './reach.ts'
import { printTable, tableOf } from './table.ts'
import { inTenant, takesTenant, type TenantOptions } from './tenant-options.ts'

async function listSessions(options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'session-list', inTenant(options))
  if (options.json === true) return sayJson(facts)
  const items = facts['sessions'] as readonly Facts[]
  printTable(tableOf(items, ['id', 'created_by', 'authorized', 'authorized_by', 'expires_at']))
}

async function endSession(id: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'session-end', inTenant(options, { id }))
  sayNow(options.json === true ? JSON.stringify(facts) : 'The session has ended.')
}

/** Needs the key of a public application. The session's own keys are shown once. */
const createSession = (options: ReachOptions): Promise<void> =>
  withClient(options, async ({ sessions }) => {
    const session = await sessions.create()
    if (options.json === true) return sayJson(session)
    for (const [name, value] of Object.entries(session)) {
      sayNow(`${name.replaceAll('_', ' ').padEnd(12)}${value}`)
    }
  })

/** Reads the request from standard input: the nonce, and the grants. */
const authorizeSession = (options: ReachOptions): Promise<void> =>
  withClient(options, async ({ sessions }) => {
    await sessions.authorize(toPlain(readJsonInput('the nonce and the grants')) as SessionGrants)
    sayNow(options.json === true ? '{"authorized":true}' : 'The session is authorized.')
  })

export function addSession(program: Command): void {
  const session = program.command('session').description('look at sessions, and end them')
  takesTenant(session.command('list'))
    .description('the sessions of a tenant, newest first')
    .action((options: TenantOptions) => listSessions(options))
  takesTenant(session.command('end <id>'))
    .description('end a session before its time')
    .action((id: string, options: TenantOptions) => endSession(id, options))
  takesCaller(session.command('create'))
    .description('begin a session, with the key of a public application')
    .action((options: ReachOptions) => createSession(options))
  takesCaller(session.command('authorize'))
    .description('grant a session what the JSON on stdin says, with its nonce')
    .action((options: ReachOptions) => authorizeSession(options))
}
