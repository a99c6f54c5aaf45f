/**
 * Parts of `coffer serve` that are the same with one process and with several.
 * @module
 */
import type { Config } from '../settings/config.ts'
import type { Log } from '../deps.ts'
import { startBackups, type BackupSchedule } from '../server/backup/schedule.ts'
import { folderOf, type FolderOptions } from '../server/folder/data-folder.ts'
import type { ListeningSocket } from '../server/listen/listening-sockets.ts'
import type { ServiceManager } from '../server/process/service-manager.ts'
import { logStart, sayListening, type Start } from '../server/process/start-line.ts'
import { say, wallMs } from '../server/process/system.ts'
import { logWeaknesses } from '../server/process/weaknesses.ts'
import type { OperatedStore } from '../store/operated.ts'
import type { ConfigOptions } from './setting-options.ts'

export type ServeOptions = FolderOptions &
  ConfigOptions & {
    /** Makes the folder if there is none, as `coffer init` does. */
    readonly init?: boolean
    /** Makes it even if nothing shows that no vault was there before. */
    readonly initNew?: boolean
    readonly keyFile?: string
    /** Starts without the master key, which operators bring later. */
    readonly sealed?: boolean
  }

/** The holder of the folder's lock makes its backups. */
export const startBackupsOf = (
  options: ServeOptions,
  { backups }: Config,
  log: Log,
): BackupSchedule | undefined =>
  backups && startBackups(folderOf(options), backups, { wallMs, log })

/**
 * Writes in one piece, so that a reader who waits for a line has both addresses; as JSON if that is
 * asked for. Weaknesses come before it.
 */
export const announcer =
  (options: ServeOptions, config: Config, log: Log, start: Start) =>
  (address: string, opsAddress?: string): void => {
    logWeaknesses(log, options, config)
    logStart(log, { address, opsAddress }, start)
    if (config.logs.logFormat === 'json') return sayListening({ address, opsAddress })
    const operations = opsAddress === undefined ? [] : [`Health and metrics are on ${opsAddress}`]
    say(...operations, `Coffer listens on ${address}`)
  }

/** The socket from a service manager, and the facts that are logged of the start. */
export interface ServiceContext {
  readonly manager: ServiceManager
  readonly handed: ListeningSocket | undefined
  readonly start: Start
}

/** The database may have gone since it was opened; that does not stop a start. */
export async function rowsIn(store: OperatedStore): Promise<{ readonly rows?: number }> {
  try {
    return { rows: (await store.figures()).nextOrdinal - 1 }
  } catch {
    return {}
  }
}
