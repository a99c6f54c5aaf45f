/**
 * `coffer status`: the state that the server of a data folder reports.
 * @module
 */
import type { Command } from 'commander'
import { callControl } from '../../server/listen/control.ts'
import { controlOf, lockOf, type FolderOptions } from '../../server/folder/data-folder.ts'
import { checkStamp } from '../../server/folder/folder-stamp.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { lockHolder } from '../../server/folder/instance-lock.ts'
import { sayJson, sayNow } from '../../server/process/system.ts'
import { takesFolder } from '../vault-options.ts'

interface StatusOptions extends FolderOptions {
  readonly json?: boolean
}

/** A command that has the folder is no server; a server without its socket cannot answer. */
function noServer(data: string): CommandFailure {
  const holder = lockHolder(lockOf(data))
  if (holder === undefined) return new CommandFailure(`no server runs on ${data}: see coffer serve`)
  const message = `no server answers for ${data}, which another coffer has (${holder})`
  return new CommandFailure(`${message}: wait for its end, or stop it first`)
}

/**
 * @throws CommandFailure if no process serves the folder, or it is of another format, and as
 *   `callControl`
 */
async function status({ data, json }: StatusOptions): Promise<void> {
  checkStamp(data)
  const facts = await callControl(controlOf(data), 'status', {})
  if (facts === undefined) throw noServer(data)
  if (json === true) return sayJson(facts)
  const told = Object.entries(facts).map(([name, value]) => [
    name.replaceAll('_', ' '),
    value === null ? 'none' : String(value),
  ])
  const width = Math.max(...told.map(([name = '']) => name.length)) + 2
  for (const [name = '', value] of told) sayNow(`${name.padEnd(width)}${value}`)
}

export function addStatus(program: Command): void {
  takesFolder(program.command('status'))
    .description('what the server of a data folder says of itself')
    .option('--json', 'print one line of JSON')
    .action((options: StatusOptions) => status(options))
}
