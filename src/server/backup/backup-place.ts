/**
 * Places of backups: a folder, or a prefix in a bucket of an S3 service.
 * @module
 */
import { accessSync, constants, existsSync, linkSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { syncFolder } from '../../lib/files.ts'
import type { BeginProgress } from '../../lib/progress.ts'
import { explained } from '../folder/folder-stamp.ts'
import { CommandFailure, systemCodeOf, usage } from '../process/failure.ts'
import { isInside } from '../folder/folder-lock.ts'
import { isAnythingAt, removeFile } from '../folder/regular-files.ts'
import { isStaged, lookAtStaging } from '../folder/staging-mark.ts'
import { addressPrefix, openBucket, splitAddress } from './bucket.ts'

export interface KeptFile {
  readonly name: string
  readonly bytes: number
}

export interface BackupPlace {
  /** @throws CommandFailure if the folder is missing, not writable, or inside the data folder */
  readonly assertThere: () => void
  /** The address of a backup, as a person writes it. */
  readonly addressOf: (name: string) => string
  /** The folder in which a backup of this name is made; only `coffer` creates it. */
  readonly stagingOf: (name: string) => string
  /** @throws CommandFailure if the name is taken, or cannot be given */
  readonly assertFree: (name: string) => Promise<void>
  /**
   * Gives a finished file its name.
   * @throws CommandFailure, or the system's own error, with the name still free
   */
  readonly put: (name: string, file: string, progress: BeginProgress) => Promise<void>
  /** Lists all files in the place, in no order. */
  readonly list: () => Promise<readonly KeptFile[]>
  /**
   * Returns the first bytes of a file, or all of a shorter one.
   * @throws the system's own error, or CommandFailure for a bucket
   */
  readonly readStart: (name: string, bytes: number) => Promise<Uint8Array>
  readonly remove: (name: string) => Promise<void>
  /** Removes leftovers of a killed process that made a server's backup. */
  readonly clear: () => void
}

const stagingSuffix = '.partial'

/** An empty folder has no mark, so only its name identifies it. */
function isStagingAt(folder: string, name: string): boolean {
  if (!name.endsWith(stagingSuffix)) return false
  const ofBackup = name.slice(0, -stagingSuffix.length)
  return backupInstantOf(ofBackup) !== undefined || isStaged(join(folder, name))
}

/** Leaves folders of running processes and of other programs. */
function clearFolder(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder) : []
  for (const name of names.filter(each => isStagingAt(folder, each))) {
    lookAtStaging(join(folder, name), true)
  }
}

function unusable(folder: string, error: unknown): unknown {
  if (systemCodeOf(error) !== 'ENOENT') return explained(folder, error)
  return new CommandFailure(`there is no folder for backups at ${folder}: make it first`, 1, error)
}

/** A backup inside the data folder would be lost together with it. */
function assertApart(folder: string, data: string): void {
  if (!isInside(folder, data)) return
  const inData = `${folder} is in the data folder, with which backups would be lost`
  throw usage(`${inData}: name a folder elsewhere`)
}

/** Returns no file if it was removed after the folder was read. */
function keptIn(folder: string, name: string): readonly KeptFile[] {
  const stats = statSync(join(folder, name), { throwIfNoEntry: false })
  return stats === undefined ? [] : [{ name, bytes: stats.size }]
}

function folderPlace(folder: string, data: string): BackupPlace {
  const pathOf = (name: string): string => join(folder, name)
  return {
    assertThere() {
      try {
        accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
      } catch (error) {
        throw unusable(folder, error)
      }
      assertApart(folder, data)
    },
    addressOf: pathOf,
    stagingOf: name => pathOf(name) + stagingSuffix,
    async assertFree(name) {
      const path = pathOf(name)
      if (isAnythingAt(path)) {
        throw new CommandFailure(`there is something at ${path}: choose another name with --to`)
      }
      if (!existsSync(folder)) {
        throw new CommandFailure(`the folder of ${path} does not exist: make it first`)
      }
      assertApart(folder, data)
    },
    async put(name, file) {
      // Unlike a rename, a link does not replace an existing file.
      linkSync(file, pathOf(name))
      syncFolder(folder)
    },
    async list() {
      try {
        const found = readdirSync(folder, { withFileTypes: true })
        return found.filter(each => each.isFile()).flatMap(({ name }) => keptIn(folder, name))
      } catch (error) {
        throw unusable(folder, error)
      }
    },
    readStart: async (name, bytes) => Bun.file(pathOf(name)).slice(0, bytes).bytes(),
    remove: async name => removeFile(pathOf(name)),
    clear: () => clearFolder(folder),
  }
}

/** @param data the data folder, in which backups are prepared */
function bucketPlace(address: string, data: string): BackupPlace {
  const { bucket: name, key: prefix } = splitAddress(address)
  const bucket = openBucket(name)
  const keyOf = (file: string): string => (prefix === '' ? file : `${prefix}/${file}`)
  const staging = join(data, 'uploading')
  return {
    // The service is first contacted when a backup is made.
    assertThere: () => {},
    addressOf: file => `${addressPrefix}${name}/${keyOf(file)}`,
    stagingOf: () => staging,
    async assertFree(file) {
      if (!(await bucket.has(keyOf(file)))) return
      throw new CommandFailure('there is something of that name in the bucket: choose another')
    },
    async put(file, path, progress) {
      await bucket.upload(keyOf(file), path, progress)
    },
    async list() {
      const start = keyOf('')
      const listed = await bucket.list(start)
      return listed.map(({ key, bytes }) => ({ name: key.slice(start.length), bytes }))
    },
    readStart: (file, bytes) => bucket.readStart(keyOf(file), bytes),
    remove: file => bucket.remove(keyOf(file)),
    clear: () => void lookAtStaging(staging, true),
  }
}

/**
 * @param where a folder, or `s3://bucket/prefix`
 * @param data the data folder of the vault
 * @throws CommandFailure for an invalid address, or missing credentials
 */
export const openPlace = (where: string, data: string): BackupPlace =>
  where.startsWith(addressPrefix) ? bucketPlace(where, data) : folderPlace(resolve(where), data)

/** Splits the file or address that a person names into its place and the name in it. */
export function splitTarget(target: string, data: string) {
  if (!target.startsWith(addressPrefix)) {
    const path = resolve(target)
    return { place: openPlace(dirname(path), data), name: basename(path) }
  }
  const { bucket, key } = splitAddress(target)
  const at = key.lastIndexOf('/')
  const name = key.slice(at + 1)
  if (name === '') {
    throw new CommandFailure(`expected the name of a file as well, such as ${target}/one.backup`, 2)
  }
  const prefix = at < 0 ? '' : `/${key.slice(0, at)}`
  return { place: openPlace(`${addressPrefix}${bucket}${prefix}`, data), name }
}

/*
 * Names of the backups that a server makes: `coffer-20261124T215500Z.backup`, with its start time.
 *
 * Files with other names are neither read nor removed.
 */

const pattern = /^coffer-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/

/** @param instantMs Unix time */
export function backupNameOf(instantMs: number): string {
  const [instant = ''] = new Date(instantMs).toISOString().split('.')
  return `coffer-${instant.replaceAll(/[-:]/g, '')}Z.backup`
}

/** @returns Unix time in milliseconds; `undefined` for any other name */
export function backupInstantOf(name: string): number | undefined {
  const [, year, month, day, hour, minute, second] = pattern.exec(name) ?? []
  const instantMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(instantMs) ? undefined : instantMs
}

export interface DatedFile extends KeptFile {
  /** Unix time, from its name. */
  readonly instantMs: number
}

/** Returns the files that are named as backups, newest first. */
export const datedFilesOf = (files: readonly KeptFile[]): readonly DatedFile[] =>
  files
    .flatMap(file => {
      const instantMs = backupInstantOf(file.name)
      return instantMs === undefined ? [] : [{ ...file, instantMs }]
    })
    .toSorted((a, b) => b.instantMs - a.instantMs)
