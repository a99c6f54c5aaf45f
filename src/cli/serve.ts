/**
 * `coffer serve`: serves one data folder until SIGTERM.
 *
 * @module
 */
import type { Deps } from '../deps.ts'
import { defaultSettings } from '../settings.ts'
import { openDataFolder, type FolderOptions } from './data-folder.ts'
import { startServer, untilSignalled } from './server.ts'
import { logToStderr, monotoneClock, randomBytes, say } from './system.ts'

export interface ServeOptions extends FolderOptions {
  readonly host: string
  readonly port: number
  readonly socket?: string
}

export async function serve(options: ServeOptions): Promise<void> {
  const { store, keys } = await openDataFolder(options)
  const deps: Deps = {
    store,
    keys,
    now: monotoneClock(),
    randomBytes,
    log: logToStderr,
    settings: defaultSettings,
  }
  const { host, port, socket } = options
  const stopped = untilSignalled()
  const server = await startServer(deps, socket === undefined ? { host, port } : { socket })
  say(`Coffer listens on ${server.address}`)
  await stopped
  await server.stop()
}
