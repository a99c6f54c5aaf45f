/**
 * Operations from the command line: by the process that serves the folder, or by this one where
 * nobody does.
 * @module
 */
import { makeResealer } from '../administration/keys.ts'
import { makeOperations } from '../administration/operations.ts'
import type { Facts, Tell } from '../administration/operation.ts'
import { ApiError, invariant } from '../errors.ts'
import { clockStartHoldMs } from '../limits.ts'
import { markOf } from '../serve/clock-file.ts'
import { callControl } from '../serve/control.ts'
import { controlOf, folderOf, openDataFolder, type FolderOptions } from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { masterKeyReplacer } from '../serve/next-master-key.ts'
import { endAfterFailure, logToStderr } from '../serve/system.ts'
import { makeDeps } from '../serve/vault-process.ts'
import { defaultSettings } from '../settings.ts'

async function operateHere(
  options: FolderOptions,
  name: string,
  input: Facts,
  tell: Tell,
): Promise<Facts> {
  const opened = await openDataFolder(options, { onFailure: endAfterFailure })
  const { store, ring, masterKeyFile } = opened
  const { deps, clock } = makeDeps({
    opened,
    mark: markOf(opened),
    startHoldMs: clockStartHoldMs,
    settings: defaultSettings,
    log: logToStderr,
  })
  try {
    const replaceMasterKey = masterKeyReplacer({ file: masterKeyFile, isOf: ring.isOf })
    // Nobody serves this folder, and others may serve the same database from theirs.
    const isShared = (await opened.database?.isAlone()) === false
    const vault = { deps, store, ring, isShared, replaceMasterKey }
    const operation = makeOperations(vault, makeResealer(vault))[name]
    invariant(operation !== undefined, 'a command names an operation that there is')
    return await operation(input, tell)
  } catch (error) {
    throw error instanceof ApiError ? new CommandFailure(error.message) : error
  } finally {
    ring.close()
    await store.close()
    clock.keep()
  }
}

/** @throws CommandFailure */
export async function operate(
  options: FolderOptions,
  name: string,
  input: Facts,
  tell: Tell = () => {},
): Promise<Facts> {
  const told = await callControl(controlOf(options.data), name, input, tell)
  return told ?? operateHere(folderOf(options), name, input, tell)
}
