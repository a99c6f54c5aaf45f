/**
 * What `coffer serve` will need, tried: to write, to lock, to listen.
 *
 * Nothing stays of it. Where a server runs, it has lock and addresses, which are then not tried.
 * @module
 */
import { accessSync, closeSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Address, Config } from '../config.ts'
import { lockOf, type FolderOptions } from '../serve/data-folder.ts'
import { explained } from '../serve/folder-stamp.ts'
import { CommandFailure, systemCodeOf } from '../serve/failure.ts'
import { lockInstance } from '../serve/instance-lock.ts'
import { lockHolder } from '../serve/lock-holder.ts'
import { openNewFile } from '../serve/regular-files.ts'
import { opsFlags, servingFlags, type ListenFlags } from '../serve/listen-failure.ts'
import { tryListening } from '../serve/listen.ts'
import { elapsedMs, sleep } from '../serve/system.ts'
import { fault, note, type Finding } from './finding.ts'

const probeName = 'doctor.probe'
const files = ['lock', 'clock', 'store/data.mdb', 'store/lock.mdb']

/** @returns what of the folder cannot be written by who asks */
function tryWriting({ data }: FolderOptions): Finding[] {
  const folders = [data, join(data, 'store')].flatMap(folder => {
    const probe = join(folder, probeName)
    try {
      const made = openNewFile(probe)
      if (made === undefined) return [fault('writing', `${probe} is in the way: move it elsewhere`)]
      closeSync(made.file)
      made.remove()
      return []
    } catch (error) {
      const failure = explained(folder, error)
      const text = failure instanceof CommandFailure ? failure.message : String(systemCodeOf(error))
      return [fault('writing', text)]
    }
  })
  const closed = files
    .map(name => join(data, name))
    .filter(path => existsSync(path) && !mayWrite(path))
    .map(path => fault('writing', `${path} may not be written: check its owner and mode`))
  return [...folders, ...closed]
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

function heldBy(lock: string): string {
  const holder = lockHolder(lock)
  return `another coffer has this folder${holder === undefined ? '' : ` (${holder})`}`
}

/** @returns `undefined` where it can be locked, and is free again */
function tryLocking({ data }: FolderOptions): Finding | undefined {
  try {
    closeSync(lockInstance(lockOf(data), { elapsedMs, sleep }))
    return undefined
  } catch (error) {
    if (error instanceof CommandFailure) {
      return note('lock', `${heldBy(lockOf(data))}: its addresses are not tried`)
    }
    const failure = explained(data, error)
    if (failure instanceof CommandFailure) return fault('lock', failure.message)
    throw error
  }
}

async function tryAddress(address: Address, flags: ListenFlags): Promise<Finding[]> {
  const about = 'socket' in address ? '--socket' : `${flags.host}, ${flags.port}`
  try {
    await tryListening(address, flags)
    return []
  } catch (error) {
    if (error instanceof CommandFailure) return [fault(about, error.message)]
    throw error
  }
}

/** @returns a fault for what cannot be done, and a note where a server runs */
export async function tryServing(
  options: FolderOptions,
  { address, ops }: Pick<Config, 'address' | 'ops'>,
): Promise<Finding[]> {
  const written = tryWriting(options)
  if (written.length > 0) return written
  const lock = tryLocking(options)
  if (lock !== undefined) return [lock]
  const own = await tryAddress(address, servingFlags)
  return ops === undefined ? own : [...own, ...(await tryAddress(ops, opsFlags))]
}
