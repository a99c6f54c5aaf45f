/**
 * `coffer serve`: serves one data folder until SIGTERM, with this process or with several others.
 * @module
 */
import type { Command } from 'commander'
import type { Config } from '../../settings/config.ts'
import { clockStartHoldMs } from '../../limits/operation-limits.ts'
import { markOf } from '../../server/process/clock-file.ts'
import {
  controlOf,
  folderOf,
  openDataFolder,
  type OpenedFolder,
} from '../../server/folder/data-folder.ts'
import { readWitness } from '../../server/witness/ask-witnesses.ts'
import { openCheckpointPlace } from '../../server/backup/checkpoint-copies.ts'
import { assertOwnStore, databaseOf, databaseEvents } from '../../server/folder/folder-database.ts'
import { joinFolder } from '../../server/folder/make-folder.ts'
import { makeErasureLog, prepareErasureLog } from '../../server/folder/erasure-log.ts'
import { usage } from '../../server/process/failure.ts'
import { tellFailuresBy } from '../../server/process/failure-line.ts'
import { watchFolder } from '../../server/folder/folder-lock.ts'
import { assertOwnFiles } from '../../server/folder/file-access.ts'
import { startLogging } from '../../server/watch/logging.ts'
import { startReports } from '../../server/watch/status-reports.ts'
import {
  isReadAgain,
  isSourceGiven,
  releaseKeys,
  sourceNameOf,
  type KeyOptions,
} from '../../server/keys/key-source.ts'
import { takeHandedSocket } from '../../server/listen/listening-sockets.ts'
import { lockSealed, openLocked } from '../../server/folder/sealed-folder.ts'
import { findServiceManager } from '../../server/process/service-manager.ts'
import { outliveTerminal } from '../../server/process/hang-up.ts'
import { serveUntilSignalled } from '../../server/process/vault-process.ts'
import { elapsedMs, endAfterFailure, outliveReaders, wallMs } from '../../server/process/system.ts'
import { initWhereAbsent } from '../init.ts'
import { loadConfig, loadSettings, takesServing } from '../setting-options.ts'
import {
  announcer,
  rowsIn,
  startBackupsOf,
  type ServiceContext,
  type ServeOptions,
} from './serve-shared.ts'
import { servedFacts } from './served-facts.ts'
import { serveTogether } from './serve-together.ts'
import { keyFileOption } from '../key-file.ts'
import { work } from '../../server/process/worker.ts'

/** @throws CommandFailure */
function assertSealable(options: ServeOptions): void {
  if (options.sealed !== true || !isSourceGiven(options)) return
  const message = '--sealed: the master key is brought later, so none is to be named'
  throw usage(message)
}

/**
 * Other processes read the key for themselves, except workers of a vault that starts sealed.
 * @throws CommandFailure
 */
export function assertReadAgain(
  options: Pick<ServeOptions, 'sealed'> & KeyOptions,
  { workers, backups }: Config,
): void {
  const isSealed = options.sealed === true
  if (!isSealed && isReadAgain(options)) return
  const areWorkers = workers > 1 && !isSealed
  if (!areWorkers && backups === undefined) return
  const [flag, who] = areWorkers ? ['--workers', 'each worker'] : ['--backup-to', 'each backup']
  const message = `${flag}: ${who} reads the master key for itself, from a file or a credential`
  throw usage(isSealed ? `${message}, which --sealed has not: use coffer backup` : message)
}

const ownBackups = 'use the backups of that, see docs/many-machines.md'

async function makeFolder(options: ServeOptions, { logs }: Config): Promise<void> {
  const { init, initNew, keyFile } = options
  if (init !== true && initNew !== true) {
    await joinFolder(options)
    if (keyFile === undefined) return
    throw usage('--key-file: expected with --init or --init-new, which alone make a key')
  }
  const made = {
    ...folderOf(options),
    ...databaseOf(options),
    ...(keyFile === undefined ? {} : { keyFile }),
    json: logs.logFormat === 'json',
  }
  await initWhereAbsent(made, initNew === true)
}

async function serveAlone(
  options: ServeOptions,
  config: Config,
  { start: asked, facts, ...given }: ServiceContext,
): Promise<void> {
  const { address, tls, ops, checkPath, logs, settings, erasureLog, drainSeconds } = config
  const { checkpointsTo } = config
  const { data } = options
  const logging = startLogging(logs)
  const { log } = logging
  const use = {
    onFailure: (cause: unknown) => endAfterFailure(cause, log),
    onDamage: () => log('newest_rows_damaged'),
    ...databaseEvents(log),
    foldRows: settings.foldRows,
  }
  const withMark = (opened: OpenedFolder) => ({
    opened,
    mark: markOf(opened),
    startHoldMs: clockStartHoldMs,
  })
  const isSealed = options.sealed === true
  let wasKilled = isSealed && lockSealed(data).wasKilled
  const first = isSealed ? undefined : withMark(await openDataFolder(options, use))
  const stopWatching = watchFolder(data, use.onFailure)
  releaseKeys()
  const backups = startBackupsOf(options, config, log)
  const start = first === undefined ? asked : { ...asked, ...(await rowsIn(first.opened.store)) }
  await serveUntilSignalled({
    first,
    async reopen(masterKey) {
      const opened = await openLocked(data, masterKey, { ...use, wasKilled })
      // Any later start in this process follows a clean close.
      wasKilled = false
      return withMark(opened)
    },
    control: controlOf(data),
    processId: process.pid,
    address,
    tls,
    ops,
    checkPath,
    settings,
    drainSeconds,
    ...given,
    logging,
    backups,
    erasures: erasureLog === undefined ? undefined : makeErasureLog(erasureLog, log),
    checkpointsTo,
    reportsBy: report => startReports({ ...facts, report, wallMs, elapsedMs }),
    announce: announcer(options, config, log, start),
  })
  stopWatching()
}

async function serve(options: ServeOptions, command: Command): Promise<void> {
  outliveTerminal()
  const given = {
    manager: findServiceManager(process.env, process.pid),
    handed: takeHandedSocket(process.env, process.pid),
  }
  const config = loadConfig(options)
  tellFailuresBy(config.logs)
  const { address, workers } = config
  assertSealable(options)
  assertReadAgain(options, config)
  await makeFolder(options, config)
  if (config.backups !== undefined) assertOwnStore(options.data, ownBackups)
  outliveReaders()
  assertOwnFiles(options)
  if (config.erasureLog !== undefined) prepareErasureLog(config.erasureLog, options.data)
  if (config.checkpointsTo !== undefined) openCheckpointPlace(config.checkpointsTo, wallMs)
  for (const witness of config.settings.auditWitnesses) readWitness(witness)
  // Comes first: a source that is read once may soon be gone.
  const keySource = options.sealed === true ? 'shares' : sourceNameOf(options)
  const start = { workers, keySource, settings: loadSettings(options) }
  const context = { ...given, start, facts: servedFacts(options, config, command) }
  if (workers === 1 || 'socket' in address) await serveAlone(options, config, context)
  else await serveTogether(options, config, address, context)
}

export function addServe(program: Command): void {
  takesServing(program.command('serve'))
    .description('serve a data folder')
    .option('--init', 'make the data folder and its --master-key-file first where neither is')
    .option('--init-new', 'the same wherever the key is, for a first start alone')
    .addOption(keyFileOption())
    .option('--sealed', 'start without the master key, which coffer unseal brings')
    .action((options: ServeOptions, command: Command) => serve(options, command))
}

export function addWorker(program: Command): void {
  program
    .command('worker <index>', { hidden: true })
    .description('serve with others, as coffer serve --workers orders on stdin')
    .action((index: string) => work(Number(index)))
}
