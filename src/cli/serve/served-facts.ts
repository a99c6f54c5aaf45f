/**
 * Facts that `coffer serve` knows of its vault from the start on, for the answers of `/status`.
 * @module
 */
import type { Command } from 'commander'
import type { Config } from '../../settings/config.ts'
import { isInDatabase } from '../../server/folder/folder-database.ts'
import { sourceNameOf } from '../../server/keys/key-source.ts'
import type { ServedFacts } from '../../server/watch/status-reports.ts'
import { findInServing } from '../../server/watch/serving-findings.ts'
import type { KeySource } from '../../status/schema.ts'
import type { ServeOptions } from './serve-shared.ts'
import { shownSettings } from '../setting-lines.ts'

/** By what `sourceNameOf` says. */
const keySources: Readonly<Record<string, KeySource>> = {
  '--master-key-file': 'file',
  '--master-key-credential': 'credential',
  '--passphrase': 'passphrase',
  '--passphrase-fd': 'passphrase',
  COFFER_MASTER_KEY: 'environment',
}

const keySourceOf = (options: ServeOptions): KeySource =>
  options.sealed === true ? 'shares' : (keySources[sourceNameOf(options)] ?? 'data_folder')

/** Called before the keys that can be read only once are wiped. */
export function servedFacts(options: ServeOptions, config: Config, command: Command): ServedFacts {
  const { workers, backups } = config
  return {
    store: isInDatabase(options.data) ? 'database' : 'folder',
    workers,
    keySource: keySourceOf(options),
    backupsTo: backups && (backups.to.startsWith('s3://') ? 'bucket' : 'folder'),
    findings: findInServing(options, config),
    settings: shownSettings(options, command),
  }
}
