/**
 * `coffer serve`: serves one data folder until SIGTERM.
 *
 * @module
 */
import type { Deps } from '../deps.ts'
import { openClock } from './clock.ts'
import { openClockFile } from './clock-file.ts'
import { openDataFolder, type FolderOptions } from './data-folder.ts'
import { loadConfig, type ConfigOptions } from './options.ts'
import { startServer, untilSignalled } from './server.ts'
import {
  elapsedMs,
  endAfterFailure,
  logToStderr,
  outliveReaders,
  randomBytes,
  say,
  wallMs,
} from './system.ts'

export type ServeOptions = FolderOptions & ConfigOptions

export async function serve(options: ServeOptions): Promise<void> {
  const { address, settings } = loadConfig(options)
  outliveReaders()
  const { store, keys, clockFile } = await openDataFolder(options, endAfterFailure)
  const log = logToStderr
  const clock = openClock({ wall: wallMs, elapsedMs, mark: openClockFile(clockFile), log })
  const { now, settled } = clock
  const deps: Deps = { store, keys, now, settled, elapsedMs, randomBytes, log, settings }
  // The end of a terminal ends no server.
  process.on('SIGHUP', () => {})
  const stopped = untilSignalled(['SIGTERM', 'SIGINT'])
  const server = await startServer(deps, address)
  say(`Coffer listens on ${server.address}`)
  await stopped
  await server.stop()
  clock.keep()
}
