/**
 * Operations from the command line: run by the process that serves the folder, or by this one if no
 * process does.
 * @module
 */
import { existsSync } from 'node:fs'
import { makeResealer } from '../vault/operator/key-operations.ts'
import { makeOperations } from '../vault/operator/operations.ts'
import { theOperator, type Facts, type Tell } from '../vault/operator/operator-operation.ts'
import { bytesOfHex, hexOf, utf8, utf8Text } from '../lib/bytes.ts'
import { ApiError, invariant } from '../lib/errors.ts'
import { openAnswer, proofNonceBytes, proofOf } from '../vault/keyring/proof.ts'
import { proofSecretOf } from '../vault/keyring/live-keyring.ts'
import { clockStartHoldMs, resealAloneRows, resealBatchRows } from '../limits/operation-limits.ts'
import { markOf } from '../server/process/clock-file.ts'
import { callControl } from '../server/listen/control.ts'
import {
  checkFolder,
  controlOf,
  folderOf,
  keyPlacesOf,
  openDataFolder,
  type FolderOptions,
} from '../server/folder/data-folder.ts'
import { CommandFailure } from '../server/process/failure.ts'
import { isSourceGiven } from '../server/keys/key-source.ts'
import { watchFolder } from '../server/folder/folder-lock.ts'
import { masterKeyReplacer } from '../server/keys/next-master-key.ts'
import { endAfterFailure, logToStderr, randomBytes } from '../server/process/system.ts'
import { makeDeps } from '../server/process/open-vault.ts'
import { defaultSettings } from '../settings/settings.ts'
import { keyVariable } from './reach.ts'

/** An operation to run, and the receiver of its progress. */
interface Asked {
  readonly name: string
  readonly input: Facts
  readonly tell: Tell
}

async function operateHere(options: FolderOptions, { name, input, tell }: Asked): Promise<Facts> {
  const opened = await openDataFolder(options, { onFailure: endAfterFailure })
  const stopWatching = watchFolder(options.data, endAfterFailure)
  const { store, keyring, masterKeyFile } = opened
  const { deps, clock } = makeDeps({
    opened,
    mark: markOf(opened),
    startHoldMs: clockStartHoldMs,
    settings: defaultSettings,
    log: logToStderr,
  })
  try {
    const replaceMasterKey = masterKeyReplacer({ file: masterKeyFile, isOf: keyring.isOf })
    // No process serves this folder, but others may serve the same database from their folders.
    const isShared = (await opened.database?.isAlone()) === false
    const { aheadMs: clockAheadMs } = clock
    const vault = { deps, store, keyring, clockAheadMs, isShared, replaceMasterKey }
    // If no process serves the vault, nobody waits for a long commit.
    const reseal = makeResealer(vault, isShared ? resealBatchRows : resealAloneRows)
    const operation = makeOperations(vault, reseal)[name]
    invariant(operation !== undefined, 'a command names an operation that there is')
    return await operation.run(input, tell, theOperator)
  } catch (error) {
    throw error instanceof ApiError ? new CommandFailure(error.message) : error
  } finally {
    keyring.close()
    stopWatching()
    await deps.audit.flush()
    await store.close()
    clock.keep()
  }
}

/** Answered without a proof: it shows the state of the files, and when keys were made. */
const unproven: readonly string[] = ['keys-status']

/** The rest needs the master key itself. */
const takesManager = (name: string): boolean => /^(?:app|session)-/.test(name)

/** Returns the key of a management application, if no master key can be had. */
function apiKeyInstead(options: FolderOptions, name: string): string | undefined {
  const { file, derivation } = keyPlacesOf(options.data)
  if (isSourceGiven(options) || existsSync(file)) return undefined
  const key = takesManager(name) ? process.env[keyVariable] : undefined
  if (key !== undefined && key !== '') return key
  if (existsSync(derivation)) return undefined
  const orKey = takesManager(name) ? `, or give the key of a manager in ${keyVariable}` : ''
  throw new CommandFailure(
    `the server asks for its master key: say where it is, such as by --master-key-file${orKey}`,
  )
}

const impostor = () =>
  new CommandFailure('what answered has not the master key of this vault: see what listens there')

/** Asks with a proof of the master key; accepts answers only from a process that has it too. */
async function askProven(
  options: FolderOptions,
  { name, input, tell }: Asked,
  challenge: Uint8Array,
): Promise<Facts | undefined> {
  const asked = {
    challenge,
    nonce: randomBytes(proofNonceBytes),
    name,
    body: utf8(JSON.stringify(input)),
  }
  const masterKey = checkFolder(options)
  const secret = proofSecretOf(masterKey)
  masterKey.fill(0)
  try {
    const headers = {
      challenge: hexOf(challenge),
      nonce: hexOf(asked.nonce),
      proof: hexOf(proofOf(secret, asked)),
    }
    const told = await callControl(controlOf(options.data), name, asked.body, tell, headers)
    if (told === undefined) return undefined
    const { sealed } = told
    const answer =
      typeof sealed === 'string' ? openAnswer(secret, asked, bytesOfHex(sealed)) : undefined
    if (answer === undefined) throw impostor()
    return JSON.parse(utf8Text(answer)) as Facts
  } finally {
    secret.fill(0)
  }
}

/** @returns `undefined` if no process serves the folder */
async function operateThere(options: FolderOptions, asked: Asked): Promise<Facts | undefined> {
  const { name, input, tell } = asked
  const control = controlOf(options.data)
  if (unproven.includes(name)) return callControl(control, name, input, tell)
  const offered = await callControl(control, 'challenge', {})
  if (offered === undefined) return undefined
  const key = apiKeyInstead(options, name)
  if (key !== undefined) return callControl(control, name, input, tell, { 'svc-api-key': key })
  const { challenge } = offered
  if (typeof challenge !== 'string') throw impostor()
  return askProven(options, asked, bytesOfHex(challenge))
}

/**
 * Asks a running server if a master key is the one that opens its vault.
 * @throws CommandFailure if it is not
 */
export async function proveThere(options: FolderOptions): Promise<void> {
  await operateThere(options, { name: 'keys-prove', input: {}, tell: () => {} })
}

/** @throws CommandFailure */
export async function operate(
  options: FolderOptions,
  name: string,
  input: Facts,
  tell: Tell = () => {},
): Promise<Facts> {
  const asked = { name, input, tell }
  return (await operateThere(options, asked)) ?? operateHere(folderOf(options), asked)
}
