/**
 * `coffer app create`: a new management application, for who has lost the key of every other one.
 *
 * Whoever has folder and master key may do this; the interface refuses to let the last manager go,
 * but cannot keep its key from being lost. Source: contract section 13.
 * @module
 */
import { nameCharsMax } from '../limits.ts'
import type { FolderOptions } from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { sayNow } from '../serve/system.ts'
import { operate } from './operate.ts'

export interface AppCreateOptions extends FolderOptions {
  readonly name: string
  /** May be left out where there is one tenant alone. */
  readonly tenant?: string
  readonly json?: boolean
}

/** The key is printed only once its application is on disk: what is printed works. */
export async function createApp(options: AppCreateOptions): Promise<void> {
  const name = options.name.trim()
  if (name === '' || name.length > nameCharsMax) {
    throw new CommandFailure(`--name: expected 1 to ${nameCharsMax} characters`, 2)
  }
  const { tenant } = options
  const facts = await operate(
    options,
    'app-create',
    tenant === undefined ? { name } : { name, tenant },
  )
  if (options.json === true) return sayNow(JSON.stringify(facts))
  sayNow(`Management application: ${String(facts['application_id'])}`)
  sayNow(`Its key, shown once:    ${String(facts['key'])}`)
}
