/**
 * Places in which `coffer restore` makes a data folder. If nothing exists, it is made beside and
 * takes the name by one rename. An existing empty folder may be a mount, have a parent that only
 * root may write, or be the target of a link: it stays, with owner and mode, and the vault is made
 * inside it and moves up, the stamp last.
 * @module
 */
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { ownerOnlyFile, syncFolder } from '../../lib/files.ts'
import type { LockedFolder } from './data-folder.ts'
import { isOpenToOthers } from './file-access.ts'
import { assertOwnWay } from './path-owners.ts'
import { explained, pathsOf, stampFolder } from './folder-stamp.ts'
import { CommandFailure } from '../process/failure.ts'
import { insideHeld } from './held-folder.ts'
import { lockInstance } from './instance-lock.ts'
import { ownNamesIn } from './claim-folder.ts'
import { giveToOwnerOf, openRegular, statsAt } from './regular-files.ts'
import { makeStagedFolder } from './staged-folder.ts'
import { insideStaging, isBegun, isStaged, removeMark, removeStaging } from './staging-mark.ts'
import { elapsedMs, sleep } from '../process/system.ts'

/** Entries that move up, in this order; the lock is made where it stays. */
const moved = ['master.kdf', 'store', 'format'] as const

/** True if an interrupted restore left this folder: it has no stamp yet. */
function isCutOff(data: string, names: readonly string[]): boolean {
  const staging = pathsOf(data).restoring
  const known = ['restoring', 'lock', 'master.kdf', 'store']
  if (!names.every(name => known.includes(name))) return false
  if (!isStaged(staging) && !isBegun(staging)) return false
  return !names.includes('store') || existsSync(pathsOf(staging).stamp)
}

function assertUnused(data: string): void {
  const names = ownNamesIn(data)
  if (names.length === 0 || isCutOff(data, names)) return
  // Left by an init or a restore that ended before it made anything else.
  if (names.length === 1 && names[0] === 'lock' && statsAt(pathsOf(data).lock)?.size === 0) return
  const advice = 'choose another, as coffer restore changes no existing folder'
  throw new CommandFailure(`${data} is not empty: ${advice}`)
}

/**
 * No vault is served from a folder that others may write; and while root makes one there, they
 * could redirect its names. @throws CommandFailure
 */
function assertClosed(data: string): void {
  const uid = process.geteuid?.()
  if (uid === undefined) return
  // Root acts for the owner.
  const user = uid === 0 ? statSync(data).uid : uid
  if (!isOpenToOthers(data, user)) return
  throw new CommandFailure(`${data} may be written by others: chmod go-w it`)
}

/** @throws CommandFailure if no vault can be restored to this place */
export function assertRestorable(data: string): void {
  if (existsSync(data)) {
    try {
      assertOwnWay(data)
      assertUnused(data)
      return assertClosed(data)
    } catch (error) {
      throw explained(data, error)
    }
  }
  if (statsAt(data) === undefined) return
  throw new CommandFailure(`${data} is a link that leads nowhere: make what it leads to first`)
}

/** A folder that is being made, and the ways to end that. */
export interface RestoredFolder {
  readonly copy: LockedFolder
  /** Moves it into its place. @throws CommandFailure with the place unchanged */
  readonly place: () => void
  /** Removes everything that was not moved into place. */
  readonly clear: () => void
}

function besideOf(data: string, masterKey: Uint8Array): RestoredFolder {
  const copy = makeStagedFolder(`${data}.restoring`, masterKey)
  return {
    copy,
    place() {
      // Opening a folder without a lock file waits for a server that may have lost it.
      writeFileSync(pathsOf(copy.data).lock, '', { flag: 'wx', mode: ownerOnlyFile })
      stampFolder(copy.data)
      syncFolder(copy.store)
      renameSync(copy.data, data)
      // It goes last: a kill leaves a copy that is known as one, or the folder in its place.
      removeMark(data)
      syncFolder(dirname(data))
    },
    clear: () => removeStaging(copy.data),
  }
}

/** Opens a folder as a file. @throws the system's own error for a link */
function openFolder(path: string): number {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
  return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
}

function giveFile(data: string, file: number): void {
  try {
    giveToOwnerOf(data, file)
  } finally {
    closeSync(file)
  }
}

/** Gives root's files to the folder's owner. Nobody else reaches them by these paths yet. */
function give(data: string, inside: string): void {
  const { store, derivation, stamp } = pathsOf(inside)
  for (const name of readdirSync(store)) giveFile(data, openRegular(join(store, name)))
  if (existsSync(derivation)) giveFile(data, openRegular(derivation))
  giveFile(data, openRegular(stamp))
  giveFile(data, openFolder(store))
}

function remove(data: string, names: readonly string[]): void {
  for (const name of names) rmSync(join(data, name), { recursive: true, force: true })
}

/** @param data and `inside` are paths by open folders */
function moveUp(data: string, inside: string): void {
  const done: string[] = []
  try {
    for (const name of moved.filter(each => existsSync(join(inside, each)))) {
      if (name === 'format') syncFolder(data)
      renameSync(join(inside, name), join(data, name))
      done.push(name)
    }
  } catch (error) {
    remove(data, done)
    throw error
  }
  syncFolder(data)
}

/** @returns the lock, with leftovers of an interrupted restore removed, and its release */
function claimWithin(data: string): { readonly lock: number; readonly release: () => void } {
  const path = pathsOf(data).lock
  const lock = lockInstance(path, { elapsedMs, sleep })
  const release = (): void => {
    rmSync(path, { force: true })
    closeSync(lock)
  }
  try {
    assertUnused(data)
    insideHeld(data, lock, inside => remove(inside, moved))
    giveToOwnerOf(data, lock)
    return { lock, release }
  } catch (error) {
    closeSync(lock)
    throw error
  }
}

function withinOf(data: string, masterKey: Uint8Array): RestoredFolder {
  const { lock, release } = claimWithin(data)
  let copy: LockedFolder
  try {
    copy = makeStagedFolder(pathsOf(data).restoring, masterKey)
  } catch (error) {
    release()
    throw error
  }
  let isPlaced = false
  return {
    copy,
    place() {
      stampFolder(copy.data)
      syncFolder(copy.store)
      insideStaging(copy.data, copy.lockFile, inside => {
        give(data, inside)
        insideHeld(data, lock, place => moveUp(place, inside))
      })
      isPlaced = true
    },
    clear() {
      removeStaging(copy.data)
      if (isPlaced) closeSync(lock)
      else release()
    },
  }
}

/**
 * Makes an empty folder for a restore to a place.
 * @param data a place that `assertRestorable` has accepted
 * @throws CommandFailure
 */
export function makeRestored(data: string, masterKey: Uint8Array): RestoredFolder {
  try {
    return existsSync(data) ? withinOf(data, masterKey) : besideOf(data, masterKey)
  } catch (error) {
    throw explained(data, error)
  }
}
