/**
 * `coffer status`: what the process says that serves a data folder.
 * @module
 */
import { callControl } from '../serve/control.ts'
import { controlOf, type FolderOptions } from '../serve/data-folder.ts'
import { isOfThisFormat } from '../serve/folder-stamp.ts'
import { CommandFailure } from '../serve/failure.ts'
import { sayJson, sayNow } from '../serve/system.ts'

export interface StatusOptions extends FolderOptions {
  readonly json?: boolean
}

/** @throws CommandFailure where nobody serves the folder */
export async function status({ data, json }: StatusOptions): Promise<void> {
  isOfThisFormat(data)
  const facts = await callControl(controlOf(data), 'status', {})
  if (facts === undefined) throw new CommandFailure(`no server runs on ${data}: see coffer serve`)
  if (json === true) return sayJson(facts)
  for (const [name, value] of Object.entries(facts)) {
    sayNow(`${name.replaceAll('_', ' ').padEnd(18)}${String(value)}`)
  }
}
