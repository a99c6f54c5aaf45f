/**
 * What is the same of one process that serves and of several.
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
    /** Makes the folder where there is none, as `coffer init` does. */
    readonly init?: boolean
    /** The same where nothing says whether a vault was there before. */
    readonly initNew?: boolean
    readonly keyFile?: string
    /** Without the master key, which others bring. */
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
 * In one piece: a reader that waits for a line then has both, as JSON where that is asked for. What
 * is unsafe is told before it.
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

/** What a service manager has handed to this process, and what it says of its start. */
export interface Given {
  readonly manager: ServiceManager
  readonly handed: ListeningSocket | undefined
  readonly start: Start
}

/** A database may have gone since it was opened, which ends no start. */
export async function rowsIn(store: OperatedStore): Promise<{ readonly rows?: number }> {
  try {
    return { rows: (await store.figures()).nextOrdinal - 1 }
  } catch {
    return {}
  }
}
