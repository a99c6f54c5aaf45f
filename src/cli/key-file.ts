/**
 * A file for a new key, which is otherwise printed: made before the key is, so that a key is only
 * made where it can be told.
 * @module
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ownerOnlyFile, syncFolder } from '../files.ts'
import { CommandFailure, systemCodeOf } from '../serve/failure.ts'

export interface KeyFile {
  readonly path: string
  /** The key and the end of its line; on disk when it returns. */
  readonly write: (key: string) => void
  /** Takes the file away again: there is no key, or none that counts. */
  readonly giveUp: () => void
}

const taken = (path: string) =>
  new CommandFailure(`a file is at ${path} already: choose another --key-file, or remove it`)

/** An empty one is what a command has left that was cut off. */
function openEmpty(path: string): number {
  const file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW)
  const stats = fstatSync(file)
  if (stats.isFile() && stats.size === 0) {
    fchmodSync(file, ownerOnlyFile)
    return file
  }
  closeSync(file)
  throw taken(path)
}

function openKeyFile(path: string): number {
  try {
    return openSync(path, 'wx', ownerOnlyFile)
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error
    return openEmpty(path)
  }
}

/** @throws CommandFailure when it cannot be made, or holds something */
function reserveKeyFile(path: string): KeyFile {
  let file: number
  try {
    file = openKeyFile(path)
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    if (systemCodeOf(error) === 'ELOOP') throw taken(path)
    throw new CommandFailure(`the key cannot be written to ${path}: check that its folder exists`)
  }
  return {
    path,
    write(key) {
      writeSync(file, `${key}\n`)
      fsyncSync(file)
      closeSync(file)
      syncFolder(dirname(resolve(path)))
    },
    giveUp: () => rmSync(path, { force: true }),
  }
}

/** Where a file is named, it is there while the task runs; a task that fails leaves none. */
export async function withKeyFile<T>(
  path: string | undefined,
  task: (keyFile: KeyFile | undefined) => Promise<T>,
): Promise<T> {
  const keyFile = path === undefined ? undefined : reserveKeyFile(path)
  try {
    return await task(keyFile)
  } catch (error) {
    keyFile?.giveUp()
    throw error
  }
}
