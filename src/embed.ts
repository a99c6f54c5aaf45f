/**
 * Embeds a vault: opens a data folder and returns the dependencies of the plugin.
 *
 * @module
 */
import { markOf } from './server/process/clock-file.ts'
import { openDataFolder, type FolderOptions } from './server/folder/data-folder.ts'
import { makeErasureLog, prepareErasureLog } from './server/folder/erasure-log.ts'
import { watchFolder } from './server/folder/folder-lock.ts'
import { makeDeps, releaseVault } from './server/process/open-vault.ts'
import { endAfterFailure, logToStderr } from './server/process/system.ts'
import type { Deps, Log } from './deps.ts'
import { clockStartHoldMs } from './limits/operation-limits.ts'
import { defaultSettings, type Settings } from './settings/settings.ts'
import { startAuditUpkeep, startDelivering, startSweeping } from './vault/upkeep.ts'

export interface VaultOptions extends FolderOptions {
  readonly settings?: Partial<Settings>
  /** A file that lists deleted tokens, for `coffer restore --erase`; outside of the data folder. */
  readonly erasureLog?: string
  /** Takes one line per event; default: stderr. */
  readonly log?: Log
  /**
   * Called when the store can no longer write, which only a new process can mend. By default this
   * process is killed, as `coffer serve` is.
   */
  readonly onFailure?: (cause: unknown) => void
}

export interface OpenVault {
  readonly deps: Deps
  /** Call it once no request is running: it wipes the keys. */
  readonly close: () => Promise<void>
}

/**
 * Opens a data folder that `coffer init` has made. This process owns it until the process ends;
 * expired rows are removed from disk until `close`.
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
  const { signing: place, store, database } = opened
  const isSweeper = (): boolean => database?.isSweeper() ?? true
  const stopSweeping = startSweeping(deps, isSweeper, store.scrub)
  const auditing = startAuditUpkeep(deps, { place, figures: store.figures, isSigner: isSweeper })
  const delivering = startDelivering(deps, isSweeper)
  const stopWatching = watchFolder(folder.data, onFailure)
  return {
    deps,
    async close() {
      stopSweeping()
      auditing.stop()
      stopWatching()
      try {
        await delivering.end()
        await erasures?.end()
        await deps.audit.flush()
        await auditing.signLast()
        await deps.store.close()
      } finally {
        releaseVault({ opened, clock })
      }
    },
  }
}
