/**
 * Finds out who may write the files of a vault, and the folders on the way to them.
 * @module
 */
import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { symbolicLinksMax } from '../../limits/operation-limits.ts'
import { hasAccessList } from '../keys/secret-access.ts'
import type { FolderOptions } from './data-folder.ts'
import { CommandFailure } from '../process/failure.ts'
import { isGroupOf, readGroupFiles, type GroupFiles } from './groups.ts'

/*
 * The path to a file: every folder and symbolic link that the system passes to reach it.
 *
 * A user who may write any of them decides what is found at its end.
 */

/** One place on the path; a link is not followed. */
interface PathPlace {
  readonly path: string
  readonly stats: Stats
}

/** A place that cannot be inspected is reported later, when it is opened. */
function placeAt(path: string): PathPlace | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    return stats && { path, stats }
  } catch {
    return undefined
  }
}

const namesIn = (path: string): string[] => path.split('/').filter(name => name !== '')

/**
 * Walks from the root to the target of the path, up to the first place that does not exist.
 * @returns `end` is absent if the target does not exist
 */
function wayTo(path: string): { readonly passed: readonly PathPlace[]; readonly end?: PathPlace } {
  const passed: PathPlace[] = []
  let names = namesIn(resolve(path))
  let at = placeAt('/')
  let links = 0
  while (at !== undefined) {
    const [name, ...rest] = names
    if (name === undefined) return { passed, end: at }
    names = rest
    if (name === '.') continue
    const next = placeAt(name === '..' ? dirname(at.path) : join(at.path, name))
    if (next?.stats.isSymbolicLink() !== true) {
      passed.push(at)
      at = next
      continue
    }
    links += 1
    if (links > symbolicLinksMax) break
    passed.push(at, next)
    const target = readlinkSync(next.path)
    names = [...namesIn(target), ...names]
    if (target.startsWith('/')) at = placeAt('/')
  }
  return { passed }
}

/*
 * Owners and writers of a vault's files: `coffer serve` refuses a vault that others may write, as
 * it is theirs as much as its owner's.
 *
 * Owners, mode bits and group members decide. An access control list shows in the group bits of the
 * mode: then these bits grant to others too.
 */

const root = 0

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

/** Describes a place that anybody but this user and root may change, or owns. */
function complaintOf(
  { path, stats }: PathPlace,
  uid: number,
  isOpenPlace: (place: PathPlace) => boolean,
): string | undefined {
  if (stats.uid !== uid && stats.uid !== root)
    return `${path} belongs to another user, who may change it: run this as that user, or chown it`
  return isOpenPlace({ path, stats })
    ? `${path} may be written by others: chmod go-w it`
    : undefined
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

/**
 * Root's commands would act on whatever vault the owner of a place has a name lead to.
 * @returns for root, another user to whom the data folder belongs
 * @throws CommandFailure for root, if a place on the way to it belongs to another user than it
 */
export function assertOwnWay(data: string): number | undefined {
  if (process.geteuid?.() !== root) return undefined
  const { passed, end } = wayTo(data)
  if (end === undefined) return undefined
  const { uid } = end.stats
  const line = passed
    .map(place => complaintOf(place, uid, () => false))
    .find(each => each !== undefined)
  if (line !== undefined) throw new CommandFailure(line)
  return uid === root ? undefined : uid
}
