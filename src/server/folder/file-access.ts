/**
 * Finds out who may write the files of a vault, and the folders on the way to them.
 * @module
 */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { hasAccessList } from '../keys/secret-access.ts'
import type { FolderOptions } from './data-folder.ts'
import { CommandFailure } from '../process/failure.ts'
import { isGroupOf, readGroupFiles, type GroupFiles } from './groups.ts'
import { complaintOf, placeAt, wayTo, type PathPlace } from './path-owners.ts'

/*
 * Owners and writers of a vault's files: `coffer serve` refuses a vault that others may write, as
 * it is theirs as much as its owner's.
 *
 * Owners, mode bits and group members decide. An access control list shows in the group bits of the
 * mode: then these bits grant to others too.
 */

const othersMayWrite = 0o002
const groupMayWrite = 0o020
const sticky = 0o1000

const namesInFolder = [
  'format',
  'master.kdf',
  'lock',
  'clock',
  'audit.key',
  'store',
  'store/data.mdb',
  'store/lock.mdb',
  'store/database',
  'store/database.left',
]

/** In a folder such as `/tmp` only the owner of a file may remove or replace it. */
const isSharedPlace = ({ stats }: PathPlace): boolean =>
  stats.isDirectory() && (stats.mode & sticky) !== 0

/**
 * True if somebody else may write it. The mode of a link does not matter: its folder and owner
 * decide where it leads.
 */
function isOpen({ path, stats }: PathPlace, uid: number, files: GroupFiles): boolean {
  if (stats.isSymbolicLink()) return false
  if ((stats.mode & othersMayWrite) !== 0) return true
  if ((stats.mode & groupMayWrite) === 0) return false
  return hasAccessList(path) || !isGroupOf(stats.gid, uid, files)
}

/** True if anybody but this user and root may write the file or folder at a path. */
export function isOpenToOthers(path: string, uid: number): boolean {
  const place = placeAt(realpathSync(path))
  return place !== undefined && isOpen(place, uid, readGroupFiles())
}

/**
 * Describes how users other than this one and root may change a single file: by its mode, or as
 * owner of a place on its path. Open folders on the path are not reported: those of a mounted
 * ConfigMap have mode 777, and still nobody can write them.
 * @returns one line; `undefined` if it is no regular file, such as a pipe
 */
export function findForeignFile(path: string, uid: number): string | undefined {
  const { passed, end } = wayTo(path)
  if (end?.stats.isFile() !== true) return undefined
  const files = readGroupFiles()
  const found = passed.map(place => complaintOf(place, uid, () => false))
  return (
    found.find(line => line !== undefined) ??
    complaintOf(end, uid, each => isOpen(each, uid, files))
  )
}

export interface ServedFiles extends FolderOptions {
  /** The settings file, which may name the places of the vault and its key. */
  readonly configFile?: { readonly path: string }
}

/**
 * Describes, one line each, how users other than this one and root may change a vault: its files,
 * its folder, the places on the paths to them, also through links, and its settings.
 * @param uid of the user who serves it
 */
export function findWritableByOthers(
  { data, masterKeyFile, configFile }: ServedFiles,
  uid: number,
): readonly string[] {
  const files = readGroupFiles()
  const keyFile = masterKeyFile ?? join(data, 'master.key')
  const lines = new Set<string>()
  const add = (line: string | undefined): void => void (line !== undefined && lines.add(line))
  for (const path of [data, ...namesInFolder.map(name => join(data, name)), keyFile]) {
    const { passed, end } = wayTo(path)
    for (const place of passed) {
      add(complaintOf(place, uid, each => !isSharedPlace(each) && isOpen(each, uid, files)))
    }
    if (end !== undefined) add(complaintOf(end, uid, each => isOpen(each, uid, files)))
  }
  if (configFile !== undefined) add(findForeignFile(configFile.path, uid))
  return [...lines]
}

/** @throws CommandFailure with the first finding, if the platform has users */
export function assertOwnFiles(options: ServedFiles): void {
  const uid = process.geteuid?.()
  const [found] = uid === undefined ? [] : findWritableByOthers(options, uid)
  if (found !== undefined) throw new CommandFailure(found)
}
