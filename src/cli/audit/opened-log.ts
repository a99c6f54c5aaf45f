/**
 * The audit log of a data folder or a database, opened for reading beside whatever serves it.
 * @module
 */
import type { PublicLog } from '../../audit/public-log.ts'
import type { Keys } from '../../crypto/keyring.ts'
import type { OperatedStore } from '../../store/operated.ts'
import {
  findFolder,
  lockOf,
  openStoreOf,
  placesOf,
  unsealKeysOf,
  type FolderOptions,
} from '../../server/folder/data-folder.ts'
import { checkStamp } from '../../server/folder/folder-stamp.ts'
import { watchReplaced } from '../../server/folder/folder-lock.ts'
import { lockHolder } from '../../server/folder/instance-lock.ts'
import { CommandFailure } from '../../server/process/failure.ts'

/** A server writes beside this reader, so that pages are not checked before. */
const besideServer = 2

const useOf = ({ data, storePasswordFile }: FolderOptions) => ({
  onFailure: () => {},
  readOnly: true,
  passwordFile: storePasswordFile,
  processes: lockHolder(lockOf(data)) === undefined ? 1 : besideServer,
})

/** @throws CommandFailure for a vault that no server has started yet */
export function assertSigned({ announcements }: PublicLog): void {
  if (announcements.length > 0) return
  throw new CommandFailure('nothing is signed yet: a server signs once it has started')
}

/** Reads what needs no key. @throws CommandFailure as `openStoreOf` */
export async function withPublicLog<T>(
  options: FolderOptions,
  read: (store: OperatedStore) => Promise<T>,
): Promise<T> {
  checkStamp(options.data)
  const { store } = await openStoreOf(placesOf(options.data), useOf(options))
  try {
    return await read(store)
  } finally {
    await store.close()
  }
}

export interface OpenedLog {
  readonly store: OperatedStore
  readonly keys: Keys
  /** True once the vault is in another file or database than the one that is read here. */
  readonly isReplaced: () => boolean
}

/** Reads with the keys of the vault. @throws CommandFailure, also for a wrong master key */
export async function withLog<T>(
  options: FolderOptions,
  read: (log: OpenedLog) => Promise<T>,
): Promise<T> {
  const folder = findFolder(options)
  const isReplaced = watchReplaced(folder.store)
  const { store } = await openStoreOf(folder, useOf(options))
  const keys = await unsealKeysOf(store, folder)
  try {
    return await read({ store, keys, isReplaced })
  } finally {
    keys.wipe()
    await store.close()
  }
}
