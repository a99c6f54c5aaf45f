/**
 * A vault for an application of one's own: a data folder becomes what the plugin needs.
 *
 * @module
 */
import { markOf } from './server/process/clock-file.ts'
import { openDataFolder, type FolderOptions } from './server/folder/data-folder.ts'
import { makeErasureLog, prepareErasureLog } from './server/folder/erasure-log.ts'
import { watchFolder } from './server/folder/folder-lock.ts'
import { makeDeps } from './server/process/open-vault.ts'
import { endAfterFailure, logToStderr } from './server/process/system.ts'
import type { Deps, Log } from './deps.ts'
import { clockStartHoldMs } from './limits/operation-limits.ts'
import { defaultSettings, type Settings } from './settings/settings.ts'
import { startSweeping } from './vault/upkeep.ts'

export interface VaultOptions extends FolderOptions {
  readonly settings?: Partial<Settings>
  /** A file that lists deleted tokens, for `coffer restore --erase`; outside of the data folder. */
  readonly erasureLog?: string
  /** Takes one line an event; on stderr where it is left out. */
  readonly log?: Log
  /**
   * Told when the store can no longer write, which only a new process can. Where it is left out,
   * this process is killed, as `coffer serve` is.
   */
  readonly onFailure?: (cause: unknown) => void
}

export interface OpenVault {
  readonly deps: Deps
  /** Once nothing is asked any more. */
  readonly close: () => Promise<void>
}

/**
 * Opens a data folder that `coffer init` has made. It is this process's until that ends, and what
 * has expired in it leaves the disk until it is closed.
 * @throws CommandFailure when it is no data folder, its key is wrong or another process has it
 */
export async function openVault(options: VaultOptions): Promise<OpenVault> {
  const { settings: given, log = logToStderr, onFailure = endAfterFailure, ...rest } = options
  const { erasureLog, ...folder } = rest
  const settings = { ...defaultSettings, ...given }
  if (erasureLog !== undefined) prepareErasureLog(erasureLog, folder.data)
  const erasures = erasureLog === undefined ? undefined : makeErasureLog(erasureLog, log)
  const opened = await openDataFolder(folder, {
    onFailure,
    onDamage: () => log('newest_rows_damaged'),
    foldRows: settings.foldRows,
  })
  const { deps, clock } = makeDeps({
    opened,
    mark: markOf(opened),
    startHoldMs: clockStartHoldMs,
    settings,
    log,
    erasures,
  })
  const stopSweeping = startSweeping(deps, undefined, opened.store.scrub)
  const stopWatching = watchFolder(folder.data, onFailure)
  return {
    deps,
    async close() {
      stopSweeping()
      stopWatching()
      await erasures?.end()
      await deps.store.close()
      clock.keep()
    },
  }
}
