/**
 * Whom the files of a vault belong to, and who may write them: a vault that others may write is
 * theirs as much as its owner's, so `coffer serve` refuses it.
 *
 * By owners and mode bits alone: lists of access beside them are not looked at.
 * @module
 */
import { statSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { FolderOptions } from './data-folder.ts'
import { CommandFailure } from './failure.ts'

const othersMayWrite = 0o022
const sticky = 0o1000
const root = 0

const namesInFolder = ['format', 'lock', 'clock', 'store', 'store/data.mdb', 'store/lock.mdb']

/** What cannot be looked at is told of by whoever opens it. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/** In a folder such as `/tmp` nobody but its owner may remove or replace a file. */
const isSharedPlace = (stats: Stats): boolean => stats.isDirectory() && (stats.mode & sticky) !== 0

/**
 * What others than a user and root may change of a vault, one line each.
 * @param uid of who serves it
 */
export function findWritableByOthers({ data, masterKeyFile }: FolderOptions, uid: number) {
  const keyFile = masterKeyFile ?? join(data, 'master.key')
  const keyFolder = dirname(resolve(keyFile))
  const isApart = keyFolder !== resolve(data)
  const paths = [data, ...namesInFolder.map(name => join(data, name)), keyFile]
  if (isApart) paths.push(keyFolder)
  return paths.flatMap(path => {
    const stats = statOf(path)
    if (stats === undefined) return []
    if (stats.uid !== uid && stats.uid !== root) {
      return [`${path} belongs to another user, who may change it: chown it`]
    }
    const isOpen = (stats.mode & othersMayWrite) !== 0
    const isAllowed = isApart && path === keyFolder && isSharedPlace(stats)
    return isOpen && !isAllowed ? [`${path} may be written by others: chmod go-w it`] : []
  })
}

/** @throws CommandFailure with the first of them, where the platform knows users */
export function assertOwnFiles(options: FolderOptions): void {
  const uid = process.geteuid?.()
  const [found] = uid === undefined ? [] : findWritableByOthers(options, uid)
  if (found !== undefined) throw new CommandFailure(found)
}
