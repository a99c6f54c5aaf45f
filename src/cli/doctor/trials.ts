/**
 * Trials of what `coffer serve` needs: to write, to lock, to listen.
 *
 * They leave nothing behind. If a server runs, it has lock and addresses, which are then not tried.
 * @module
 */
import { accessSync, closeSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Address, Config } from '../../settings/config.ts'
import { callControl } from '../../server/listen/control.ts'
import { controlOf, lockOf, type FolderOptions } from '../../server/folder/data-folder.ts'
import { explained } from '../../server/folder/folder-stamp.ts'
import { CommandFailure, systemCodeOf } from '../../server/process/failure.ts'
import { lockInstance, lockHolder } from '../../server/folder/instance-lock.ts'
import { openNewFile } from '../../server/folder/regular-files.ts'
import { opsFlags, servingFlags, type ListenFlags } from '../../server/listen/listen-failure.ts'
import { addressText, tryListening } from '../../server/listen/listen.ts'
import { elapsedMs, sleep } from '../../server/process/system.ts'
import { fault, note, type DoctorFinding } from './finding.ts'

const probeName = 'doctor.probe'
const files = ['lock', 'clock', 'store/data.mdb', 'store/lock.mdb']

/** @returns findings for files of the folder that this user cannot write */
function tryWriting({ data }: FolderOptions): DoctorFinding[] {
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

/** Asks a server for its addresses; none if another command has the folder. */
async function servedAt({ data }: FolderOptions): Promise<readonly string[]> {
  try {
    const { address, ops_address: ops } = (await callControl(controlOf(data), 'status', {})) ?? {}
    return [address, ops].filter(each => typeof each === 'string')
  } catch (error) {
    if (error instanceof CommandFailure) return []
    throw error
  }
}

/** @returns `undefined` if it can be locked; it is free again */
function tryLocking({ data }: FolderOptions): DoctorFinding | undefined {
  try {
    closeSync(lockInstance(lockOf(data), { elapsedMs, sleep }))
    return undefined
  } catch (error) {
    if (error instanceof CommandFailure) {
      return note('lock', heldBy(lockOf(data)))
    }
    const failure = explained(data, error)
    if (failure instanceof CommandFailure) return fault('lock', failure.message)
    throw error
  }
}

async function tryAddress(address: Address, flags: ListenFlags): Promise<DoctorFinding[]> {
  const about = 'socket' in address ? '--socket' : `${flags.host}, ${flags.port}`
  try {
    await tryListening(address, flags)
    return []
  } catch (error) {
    if (error instanceof CommandFailure) return [fault(about, error.message)]
    throw error
  }
}

type Listeners = Pick<Config, 'address' | 'ops' | 'tls'>

/** Addresses in the settings, as they are printed, each with its trial. */
const addressesOf = ({ address, ops, tls }: Listeners) => [
  { text: addressText(address, tls !== undefined), tried: () => tryAddress(address, servingFlags) },
  ...(ops === undefined
    ? []
    : [{ text: addressText(ops, false), tried: () => tryAddress(ops, opsFlags) }]),
]

async function tryAll(addresses: ReturnType<typeof addressesOf>): Promise<DoctorFinding[]> {
  const found: DoctorFinding[] = []
  for (const { tried } of addresses) found.push(...(await tried()))
  return found
}

/**
 * @param isTold true if a setting says where to listen
 * @returns a fault for a trial that failed; if a server runs, a note about its addresses, which are
 *   taken, and about the other addresses that were set
 */
export async function tryServing(
  options: FolderOptions,
  listeners: Listeners,
  isTold: boolean,
): Promise<DoctorFinding[]> {
  const written = tryWriting(options)
  if (written.length > 0) return written
  const lock = tryLocking(options)
  if (lock?.level === 'fault') return [lock]
  const all = addressesOf(listeners)
  if (lock === undefined) return tryAll(all)
  const served = await servedAt(options)
  // Without a setting the default address would look taken by the server itself.
  const others = isTold && served.length > 0 ? all.filter(({ text }) => !served.includes(text)) : []
  const where = served.length === 0 ? '' : `, and listens on ${served.join(' and ')}`
  const tried = others.length === 0 ? 'no address is tried' : 'the others that were told are tried'
  return [note(lock.about, `${lock.text}${where}: ${tried}`), ...(await tryAll(others))]
}
