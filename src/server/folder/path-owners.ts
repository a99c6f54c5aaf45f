/**
 * The path to a file: every folder and symbolic link that the system passes to reach it, and to
 * whom they belong.
 *
 * A user who may write any of them decides what is found at its end.
 * @module
 */
import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { symbolicLinksMax } from '../../limits/operation-limits.ts'
import { CommandFailure } from '../process/failure.ts'

const root = 0

/** One place on the path; a link is not followed. */
export interface PathPlace {
  readonly path: string
  readonly stats: Stats
}

/** A place that cannot be inspected is reported later, when it is opened. */
export function placeAt(path: string): PathPlace | undefined {
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
export function wayTo(path: string): {
  readonly passed: readonly PathPlace[]
  readonly end?: PathPlace
} {
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

/** Describes a place that anybody but this user and root may change, or owns. */
export function complaintOf(
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
