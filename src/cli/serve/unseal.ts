/**
 * `coffer unseal | seal`: gives a running vault its keys, and makes it forget them.
 * @module
 */
import type { Command } from 'commander'
import type { Facts } from '../../vault/operator/operator-operation.ts'
import { shareTextBytesMax } from '../../limits/operation-limits.ts'
import { callControl } from '../../server/listen/control.ts'
import { checkFolder, controlOf, type FolderOptions } from '../../server/folder/data-folder.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { isSourceGiven } from '../../server/keys/key-source.ts'
import { encodeMasterKey } from '../../server/keys/master-key.ts'
import { sayJson, sayNow } from '../../server/process/system.ts'
import { eachShare } from '../keys/key-shares.ts'
import { takesFolder, takesVault } from '../vault-options.ts'

interface UnsealOptions extends FolderOptions {
  /** Forgets the shares received so far. */
  readonly reset?: boolean
  readonly json?: boolean
}

async function call(
  { data }: FolderOptions,
  name: string,
  input: Facts | Uint8Array,
): Promise<Facts> {
  const facts = await callControl(controlOf(data), name, input)
  if (facts !== undefined) return facts
  throw new CommandFailure(`no server runs on ${data}: start coffer serve --sealed`)
}

/**
 * Sends a secret, and then a longer text that is none: a server keeps the last text it received
 * until the next one overwrites it, which may be long after.
 */
async function callWithSecret(options: FolderOptions, secret: Uint8Array): Promise<Facts> {
  try {
    return await call(options, 'unseal', secret)
  } finally {
    await call(options, 'seal-status', { covers: '-'.repeat(2 * shareTextBytesMax) })
  }
}

function tell({ json }: UnsealOptions, facts: Facts): void {
  if (json === true) return sayJson(facts)
  const { sealed, shares, threshold } = facts
  if (sealed !== true) return sayNow('The vault is unsealed.')
  if (threshold === null) return sayNow('The vault is sealed.')
  sayNow(`The vault is sealed: ${String(shares)} of ${String(threshold)} shares came.`)
}

async function sendKey(options: UnsealOptions): Promise<Facts> {
  const masterKey = checkFolder(options)
  const digits = encodeMasterKey(masterKey)
  try {
    return await callWithSecret(options, digits)
  } finally {
    masterKey.fill(0)
    digits.fill(0)
  }
}

async function sendShares(options: UnsealOptions): Promise<Facts> {
  let facts = await call(options, 'seal-status', {})
  if (facts['sealed'] !== true) throw new CommandFailure('the vault is not sealed')
  const count = await eachShare(async text => {
    facts = await callWithSecret(options, text)
    const isDone = facts['sealed'] !== true
    if (!isDone && options.json !== true) tell(options, facts)
    return isDone
  })
  if (count === 0) throw new CommandFailure('expected a share, and there was none')
  return facts
}

/** @throws CommandFailure for a share or a key that is not accepted */
async function unseal(options: UnsealOptions): Promise<void> {
  if (options.reset === true) return tell(options, await call(options, 'unseal-reset', {}))
  if (isSourceGiven(options)) return tell(options, await sendKey(options))
  const facts = await sendShares(options)
  if (options.json === true || facts['sealed'] !== true) tell(options, facts)
}

/** @throws CommandFailure if it is sealed already, or cannot be */
async function seal(options: UnsealOptions): Promise<void> {
  tell(options, await call(options, 'seal', {}))
}

export function addUnseal(program: Command): void {
  takesVault(program.command('unseal'), { store: 'any', joins: true })
    .description('give a sealed vault its master key: by shares on stdin, or from one place')
    .option('--reset', 'forget the shares that came so far')
    .option('--json', 'print one line of JSON')
    .action((options: UnsealOptions) => unseal(options))
}

export function addSeal(program: Command): void {
  takesFolder(program.command('seal'))
    .description('make a running vault forget its keys, until it is unsealed')
    .option('--json', 'print one line of JSON')
    .action((options: UnsealOptions) => seal(options))
}
