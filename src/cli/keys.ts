/**
 * `coffer keys status | rotate | retire`: the keys that values are sealed under.
 * @module
 */
import type { Facts } from '../administration/operation.ts'
import type { FolderOptions } from '../serve/data-folder.ts'
import { sayNow } from '../serve/system.ts'
import { operate } from './operate.ts'

export interface KeysOptions extends FolderOptions {
  readonly json?: boolean
}

interface KeyFacts extends Facts {
  readonly number: number
  readonly state: string
  readonly made_at: string | null
  readonly rows: number
}

const when = (instant: string | null): string => instant ?? 'an unknown time'

export async function keysStatus(options: KeysOptions): Promise<void> {
  const facts = await operate(options, 'keys-status', {})
  if (options.json === true) return sayNow(JSON.stringify(facts))
  const keys = facts['keys'] as readonly KeyFacts[]
  for (const { number, state, made_at: madeAt, rows } of keys) {
    sayNow(`key ${number}: ${state}, made ${when(madeAt)}, ${rows} rows are sealed under it`)
  }
  sayNow(`The keyring is under master key ${String(facts['master_key'])}.`)
  const left = Number(facts['keyrings_to_scrub'])
  if (left > 0) sayNow(`Older keyrings may be in the files, ${left} of them: run keys retire.`)
}

export async function keysRotate(options: KeysOptions): Promise<void> {
  const facts = await operate(options, 'keys-rotate', {})
  if (options.json === true) return sayNow(JSON.stringify(facts))
  const { key, rows_resealed: rows, rows_damaged: damaged } = facts
  sayNow(`Key ${String(key)} is the current one; ${String(rows)} rows were sealed anew under it.`)
  if (damaged !== 0) sayNow(`${String(damaged)} rows did not open: see coffer verify.`)
}

export async function keysRetire(options: KeysOptions): Promise<void> {
  const facts = await operate(options, 'keys-retire', {})
  if (options.json === true) return sayNow(JSON.stringify(facts))
  const keys = facts['keys'] as readonly KeyFacts[]
  sayNow(`Receipt of ${String(facts['retired_at'])}`)
  for (const { number, made_at: madeAt } of keys) {
    sayNow(`  key ${number}, made ${when(madeAt)}: it is gone`)
  }
  if (keys.length === 0) sayNow('  no key was left to retire')
  sayNow(`  rows looked at: ${String(facts['rows_looked_at'])}; under a retired key: none`)
  const isScrubbed = facts['scrubbed'] === true
  sayNow(`  keyrings of before are ${isScrubbed ? 'nowhere' : 'still'} in the files`)
  if (!isScrubbed)
    sayNow('  somebody reads them, such as a backup: run keys retire once it is done')
  sayNow(`  ${String(facts['not_covered'])}`)
}
