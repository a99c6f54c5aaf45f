/**
 * The first line of a server, in the log and on stdout.
 * @module
 */
import { build, version } from '../../lib/version.ts'
import type { CountingSetting } from '../../settings/config.ts'
import type { Log } from '../../deps.ts'
import { formatVersion } from '../folder/folder-stamp.ts'
import { makeLine } from '../watch/log.ts'
import { stderrPlace } from './system.ts'

/** Facts known before it listens. */
export interface Start {
  /** Number of rows ever inserted, also deleted ones; absent if unknown, as for a sealed vault. */
  readonly rows?: number | undefined
  readonly workers: number
  /** The option or variable that names the key, `data folder` or `shares`. */
  readonly keySource: string
  readonly settings: readonly CountingSetting[]
}

export interface Addresses {
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

export function logStart(log: Log, addresses: Addresses, start: Start): void {
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
export function sayListening(addresses: Addresses): void {
  const lineOf = makeLine({ logFormat: 'json', logPriority: 'off' }, stderrPlace())
  process.stdout.write(lineOf('listening', factsOf(addresses)))
}
