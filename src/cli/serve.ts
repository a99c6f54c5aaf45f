/**
 * `coffer serve`: serves one data folder until SIGTERM.
 *
 * @module
 */
import type { Deps } from '../deps.ts'
import { openDataFolder, type FolderOptions } from './data-folder.ts'
import { loadConfig, type ConfigOptions } from './options.ts'
import { startServer, untilSignalled } from './server.ts'
import {
  elapsedMs,
  endAfterFailure,
  logToStderr,
  monotoneClock,
  outliveReaders,
  randomBytes,
  say,
} from './system.ts'

export type ServeOptions = FolderOptions & ConfigOptions

export async function serve(options: ServeOptions): Promise<void> {
  const { address, settings } = loadConfig(options)
  outliveReaders()
  const { store, keys } = await openDataFolder(options, endAfterFailure)
  const deps: Deps = {
    store,
    keys,
    now: monotoneClock(),
    elapsedMs,
    randomBytes,
    log: logToStderr,
    settings,
  }
  // The end of a terminal ends no server.
  process.on('SIGHUP', () => {})
  const stopped = untilSignalled(['SIGTERM', 'SIGINT'])
  const server = await startServer(deps, address)
  say(`Coffer listens on ${server.address}`)
  await stopped
  await server.stop()
}
