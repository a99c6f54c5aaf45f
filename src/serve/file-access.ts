/**
 * Who may write the files of a vault, and the folders on the way to them.
 * @module
 */
import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { symbolicLinksMax } from '../operation-limits.ts'
import { hasAccessList } from './access-lists.ts'
import type { FolderOptions } from './data-folder.ts'
import { CommandFailure } from './failure.ts'
import { isGroupOf, readGroupFiles, type GroupFiles } from './group-members.ts'

/*
 * The way to a file: every folder and symbolic link that the system passes to get there.
 *
 * Whoever may write any of them decides what is found at its end.
 */

/** One place on the way, as it is itself: a link is not followed. */
interface PathPlace {
  readonly path: string
  readonly stats: Stats
}

/** What cannot be looked at is told of by whoever opens it. */
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

/**
 * What others than a user and root may change of a vault, one line each: of its files, of its
 * folder, and of all that lies on the way to them, where links lead as well.
 * @param uid of who serves it
 */
export function findWritableByOthers(
  { data, masterKeyFile }: FolderOptions,
  uid: number,
): readonly string[] {
  const files = readGroupFiles()
  const keyFile = masterKeyFile ?? join(data, 'master.key')
  const lines = new Set<string>()
  const look = (place: PathPlace, isShared: boolean): void => {
    const { path, stats } = place
    if (stats.uid !== uid && stats.uid !== root) {
      lines.add(`${path} belongs to another user, who may change it: chown it`)
    } else if (isOpen(place, uid, files) && !isShared) {
      lines.add(`${path} may be written by others: chmod go-w it`)
    }
  }
  for (const path of [data, ...namesInFolder.map(name => join(data, name)), keyFile]) {
    const { passed, end } = wayTo(path)
    for (const place of passed) look(place, isSharedPlace(place))
    if (end !== undefined) look(end, false)
  }
  return [...lines]
}

/** @throws CommandFailure with the first of them, where the platform knows users */
export function assertOwnFiles(options: FolderOptions): void {
  const uid = process.geteuid?.()
  const [found] = uid === undefined ? [] : findWritableByOthers(options, uid)
  if (found !== undefined) throw new CommandFailure(found)
}
