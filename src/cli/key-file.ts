/**
 * A file for a new key, which is otherwise printed: made before the key, so that a key is made only
 * if it can be handed out.
 * @module
 */
import { Option } from 'commander'
import { closeSync, fsyncSync, ftruncateSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { readRegular, syncFolder, writeWhole } from '../lib/files.ts'
import { CommandFailure } from '../server/process/failure.ts'
import { openNewFile, removeFile, statsAt, type NewFile } from '../server/folder/regular-files.ts'

export const keyFileOption = (): Option =>
  new Option(
    '--key-file <file>',
    'write the new key there instead of printing it; no such file yet',
  )

export interface KeyFile {
  readonly path: string
  /** Writes the key and a line end; on disk when it returns. */
  readonly write: (key: string) => void
  /** Removes the file: there is no key, or none that counts. */
  readonly giveUp: () => void
}

const taken = (path: string) =>
  new CommandFailure(`a file is at ${path} already: choose another --key-file, or remove it`)

/** More than any key takes. */
const keyRoomBytes = 128

/** A command that was killed while it tried for room left that room, in a file of this user. */
function removeLeftRoom(path: string): void {
  const found = statsAt(path)
  if (found?.isFile() !== true || found.uid !== process.geteuid?.()) return
  if (found.size !== keyRoomBytes) return
  if (readRegular(path, keyRoomBytes)?.every(byte => byte === 0) === true) removeFile(path)
}

function openKeyFile(path: string): NewFile | undefined {
  try {
    removeLeftRoom(path)
    return openNewFile(path)
  } catch {
    throw new CommandFailure(`the key cannot be written to ${path}: check that its folder exists`)
  }
}

/**
 * A full disk must be noticed before there is a key, which cannot be shown again. The file is empty
 * again afterwards, so that an interrupted command can be repeated.
 */
function assertRoomFor({ file, remove }: NewFile, path: string): void {
  try {
    writeWhole(file, Buffer.alloc(keyRoomBytes), 0)
    fsyncSync(file)
    ftruncateSync(file)
  } catch {
    remove()
    throw new CommandFailure(`the key cannot be written to ${path}: make room on its disk`)
  }
}

/** @throws CommandFailure if it cannot be made, or holds something */
function reserveKeyFile(path: string): KeyFile {
  const made = openKeyFile(path)
  if (made === undefined) throw taken(path)
  assertRoomFor(made, path)
  return {
    path,
    write(key) {
      writeWhole(made.file, Buffer.from(`${key}\n`), 0)
      fsyncSync(made.file)
      closeSync(made.file)
      syncFolder(dirname(resolve(path)))
    },
    giveUp: made.remove,
  }
}

/** If a file is named, it exists while the task runs; a task that fails leaves none. */
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
