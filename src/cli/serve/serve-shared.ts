/**
 * Parts of `coffer serve` that are the same with one process and with several.
 * @module
 */
import type { Config, CountingSetting } from '../../settings/config.ts'
import type { Log } from '../../deps.ts'
import { startBackups, type BackupSchedule } from '../../server/backup/schedule.ts'
import { folderOf, type FolderOptions } from '../../server/folder/data-folder.ts'
import type { ListeningSocket } from '../../server/listen/listening-sockets.ts'
import type { ServiceManager } from '../../server/process/service-manager.ts'
import { say, wallMs, stderrPlace } from '../../server/process/system.ts'
import { logWeaknesses } from '../../server/process/weaknesses.ts'
import type { OperatedStore } from '../../store/operated.ts'
import type { ConfigOptions } from '../setting-options.ts'
import { build, version } from '../../lib/version.ts'
import { formatVersion } from '../../server/folder/folder-stamp.ts'
import { makeLine } from '../../server/watch/log.ts'
import type { ServedFacts } from '../../server/watch/status-reports.ts'

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
  /** For the answers of `/status`. */
  readonly facts: ServedFacts
}

/** The database may have gone since it was opened; that does not stop a start. */
export async function rowsIn(store: OperatedStore): Promise<{ readonly rows?: number }> {
  try {
    return { rows: (await store.figures()).nextOrdinal - 1 }
  } catch {
    return {}
  }
}

/*
 * The first line of a server, in the log and on stdout.
 */

/** Facts known before it listens. */
export interface Start {
  /** Number of rows ever inserted, also deleted ones; absent if unknown, as for a sealed vault. */
  readonly rows?: number | undefined
  readonly workers: number
  /** The option or variable that names the key, `data folder` or `shares`. */
  readonly keySource: string
  readonly settings: readonly CountingSetting[]
}

interface Addresses {
  readonly address: string
  readonly opsAddress?: string | undefined
}

const factsOf = ({ address, opsAddress }: Addresses) => ({
  address,
  ...(opsAddress === undefined ? {} : { ops_address: opsAddress }),
})

/** Settings that were set by somebody. */
const saidIn = (settings: readonly CountingSetting[]): string =>
  settings
    .filter(({ from }) => from !== 'default')
    .map(({ name, value }) => `${name}=${String(value)}`)
    .join(' ')

function logStart(log: Log, addresses: Addresses, start: Start): void {
  const { rows, workers, keySource, settings } = start
  log('started', {
    version,
    build,
    format: formatVersion,
    process_id: process.pid,
    workers,
    ...factsOf(addresses),
    key_source: keySource,
    ...(rows === undefined ? {} : { rows }),
    settings: saidIn(settings),
  })
}

/** Replaces the lines for a person. */
function sayListening(addresses: Addresses): void {
  const lineOf = makeLine({ logFormat: 'json', logPriority: 'off' }, stderrPlace())
  process.stdout.write(lineOf('listening', factsOf(addresses)))
}
