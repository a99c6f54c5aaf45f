/**
 * API keys and sessions of a backup that is restored: those that were revoked after the backup are
 * live in it again, so an operator keeps or revokes them all.
 * @module
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import { revokeEverything, type Revoked } from '../../vault/operator/revocation.ts'
import type { NewApplication } from '../../applications/application-service.ts'
import { answerBytesMax } from '../../limits/operation-limits.ts'
import type { BeginProgress } from '../../lib/progress.ts'
import { openStoreOf, unsealKeysOf, type FoundFolder } from '../../server/folder/data-folder.ts'
import { CommandFailure, usage } from '../../server/process/failure.ts'
import { readSecretLine } from '../../server/keys/secret-input.ts'
import { randomBytes, sayJson, sayNow, wallMs } from '../../server/process/system.ts'
import type { KeyFile } from '../key-file.ts'

export interface KeysOfRestore {
  readonly verifyOnly?: boolean
  readonly keepKeys?: boolean
  readonly revokeKeys?: boolean
  readonly keyFile?: string
  readonly json?: boolean
}

const undecided = () =>
  usage(
    'keys that were revoked since the backup are live in it: say --revoke-keys to end all keys ' +
      'and sessions but a new management key, or --keep-keys',
  )

/** @throws CommandFailure if the terminal on standard input is not this process's own */
function openTerminal(): number {
  try {
    return openSync('/dev/tty', 'r+')
  } catch {
    throw undecided()
  }
}

function askToRevoke(): boolean {
  const terminal = openTerminal()
  try {
    const question =
      'End all API keys and sessions of the backup, for a new management key, and disable its ' +
      'webhooks? [Y/n] '
    writeSync(terminal, question)
    const bytes = readSecretLine(terminal, answerBytesMax)
    const answer = bytes && Buffer.from(bytes).toString('latin1').trim().toLowerCase()
    if (answer === '' || answer === 'y' || answer === 'yes') return true
    if (answer === 'n' || answer === 'no') return false
    throw undecided()
  } finally {
    closeSync(terminal)
  }
}

/**
 * Decides if all keys are to be revoked. It asks only at a terminal.
 * @throws CommandFailure if options contradict each other, or none decides
 */
export function wantsRevoked(options: KeysOfRestore): boolean {
  const { verifyOnly, keepKeys = false, revokeKeys = false, keyFile, json } = options
  if (keepKeys && revokeKeys) throw usage('say one of --keep-keys and --revoke-keys')
  if (keyFile !== undefined && !revokeKeys) throw usage('--key-file: expected --revoke-keys too')
  if (verifyOnly === true) {
    if (keepKeys || revokeKeys) throw usage('--verify-only: nothing is made, and no key is revoked')
    return false
  }
  if (keepKeys || revokeKeys) return revokeKeys
  if (json === true || process.stdin.isTTY !== true) throw undecided()
  return askToRevoke()
}

/** @param folder counts only after this; its master key is wiped */
export async function revokeIn(folder: FoundFolder, progress: BeginProgress): Promise<Revoked> {
  const { store } = await openStoreOf(folder, { onFailure: () => {} })
  // Closes the store if it fails.
  const keys = await unsealKeysOf(store, folder)
  try {
    const { nextOrdinal } = await store.figures()
    const onRow = progress(nextOrdinal, 'revoking')
    return await revokeEverything({ store, keys, randomBytes, now: wallMs }, onRow)
  } finally {
    await store.close()
  }
}

function sayRevoked(
  { keys, sessions, webhooks, managers }: Revoked,
  keyFile: KeyFile | undefined,
): void {
  sayNow(`revoked: ${keys} API keys and ${sessions} sessions; applications have no key now`)
  if (webhooks > 0) sayNow(`disabled: ${webhooks} webhooks; enable those that are wanted still`)
  for (const { record, key } of managers) {
    sayNow(`Tenant:                     ${record.tenantId}`)
    sayNow(`New management application: ${record.id}`)
    if (keyFile === undefined) sayNow(`Its key, shown once:        ${key.reveal()}`)
  }
  if (keyFile !== undefined) sayNow(`Its key is in               ${keyFile.path}`)
}

const shown = ({ record, key }: NewApplication, keyFile: KeyFile | undefined) => ({
  tenant_id: record.tenantId,
  application_id: record.id,
  ...(keyFile === undefined ? { key: key.reveal() } : { key_file: keyFile.path }),
})

/**
 * Prints the new keys before the folder counts, because nobody could manage it without them.
 * @param facts of the restore, for JSON
 * @param keyFile gets a line for each tenant, in the order in which they are printed
 * @throws CommandFailure
 */
export function tellRevoked(
  { json }: KeysOfRestore,
  facts: object,
  revoked: Revoked,
  keyFile: KeyFile | undefined,
): void {
  const { keys, sessions, webhooks, managers } = revoked
  try {
    keyFile?.write(managers.map(({ key }) => key.reveal()).join('\n'))
    if (json !== true) return sayRevoked(revoked, keyFile)
    const made = managers.map(manager => shown(manager, keyFile))
    sayJson({ ...facts, revoked: { keys, sessions, webhooks }, managers: made })
  } catch {
    const where = keyFile === undefined ? 'mend stdout' : 'mend stdout, or see its disk'
    throw new CommandFailure(`the new key could not be told, so nothing was restored: ${where}`)
  }
}
