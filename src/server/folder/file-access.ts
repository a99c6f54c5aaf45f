/**
 * Who may write the files of a vault, and the folders on the way to them.
 * @module
 */
import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { symbolicLinksMax } from '../../limits/operation-limits.ts'
import { hasAccessList } from './access-lists.ts'
import type { FolderOptions } from './data-folder.ts'
import { CommandFailure } from '../process/failure.ts'
import { isGroupOf, readGroupFiles, type GroupFiles } from './group-members.ts'

/*
 * The way to a file: every folder and symbolic link that the system passes to get there.
 *
 * A user who may write any of them decides what is found at its end.
 */

/** One place on the way, as it is itself: a link is not followed. */
interface PathPlace {
  readonly path: string
  readonly stats: Stats
}

/** What cannot be looked at is told of where it is opened. */
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
 * From the root to what the path leads to; it ends before the first place that is not there.
 * @returns `end` is absent where nothing is at the end
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
 * Whom the files of a vault belong to, and who may write them: a vault that others may write is
 * theirs as much as its owner's, so `coffer serve` refuses it.
 *
 * By owners, mode bits and the members of groups. What a list of access beside them gives to others
 * shows in the bits of the group: then those are of others too.
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
  'store',
  'store/data.mdb',
  'store/lock.mdb',
  'store/database',
  'store/database.left',
]

/** In a folder such as `/tmp` nobody but its owner may remove or replace a file. */
const isSharedPlace = ({ stats }: PathPlace): boolean =>
  stats.isDirectory() && (stats.mode & sticky) !== 0

/**
 * Whether somebody else may write it. The mode of a link says nothing: its folder and its owner
 * decide where it leads.
 */
function isOpen({ path, stats }: PathPlace, uid: number, files: GroupFiles): boolean {
  if (stats.isSymbolicLink()) return false
  if ((stats.mode & othersMayWrite) !== 0) return true
  if ((stats.mode & groupMayWrite) === 0) return false
  return hasAccessList(path) || !isGroupOf(stats.gid, uid, files)
}

/** Whether others than a user and root may write what is at a path. */
export function isOpenToOthers(path: string, uid: number): boolean {
  const place = placeAt(realpathSync(path))
  return place !== undefined && isOpen(place, uid, readGroupFiles())
}

/** What is said of a place that others than a user and root may change, or own. */
function complaintOf(
  { path, stats }: PathPlace,
  uid: number,
  isOpenPlace: (place: PathPlace) => boolean,
): string | undefined {
  if (stats.uid !== uid && stats.uid !== root)
    return `${path} belongs to another user, who may change it: chown it`
  return isOpenPlace({ path, stats })
    ? `${path} may be written by others: chmod go-w it`
    : undefined
}

/**
 * What others than a user and root may change of a single file: itself, and who owns what lies on
 * the way to it. Whether a folder there is open is not looked at: that of a mounted ConfigMap is of
 * mode 777, and nobody can write it all the same.
 * @returns one line; `undefined` where there is no such file, as of a pipe
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
  /** Of the settings, which may say where the vault and its key are. */
  readonly configFile?: { readonly path: string }
}

/**
 * What others than a user and root may change of a vault, one line each: of its files, of its
 * folder, of all that lies on the way to them, where links lead as well, and of its settings.
 * @param uid of who serves it
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

/** @throws CommandFailure with the first of them, where the platform knows users */
export function assertOwnFiles(options: ServedFiles): void {
  const uid = process.geteuid?.()
  const [found] = uid === undefined ? [] : findWritableByOthers(options, uid)
  if (found !== undefined) throw new CommandFailure(found)
}
