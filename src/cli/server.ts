/**
 * A listening vault: the server, the sweep beside it, and its orderly end.
 *
 * @module
 */
import { chmodSync, existsSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { buildApp } from '../app.ts'
import type { Deps } from '../deps.ts'
import { sweep } from '../expiry.ts'
import { drainMsMax, sweepIntervalMs } from '../limits.ts'
import { CommandFailure, systemCodeOf } from './failure.ts'

export type Address = { readonly socket: string } | { readonly host: string; readonly port: number }

export interface RunningServer {
  /** `http://127.0.0.1:3333`, or the path of the socket. */
  readonly address: string
  /** Takes no more requests, lets the ones under way end within a bound, closes the store. */
  stop(): Promise<void>
}

const ownerOnly = 0o600

const answersAt = (socket: string): Promise<boolean> =>
  new Promise(resolve => {
    const probe = connect(socket)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', () => resolve(false))
  })

/** A socket file outlives a killed process (bun#29166); one that answers is in use. */
async function clearSocket(socket: string): Promise<void> {
  if (!existsSync(socket)) return
  if (await answersAt(socket)) {
    throw new CommandFailure('the socket is in use: stop that process or choose another --socket')
  }
  unlinkSync(socket)
}

function listenFailure(error: unknown): unknown {
  const code = systemCodeOf(error)
  if (code === 'EADDRINUSE') {
    return new CommandFailure('the port is in use: stop that process or choose another --port')
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new CommandFailure('cannot listen there: choose another --host, --port or --socket')
  }
  return error
}

function listen(deps: Deps, address: Address) {
  const app = buildApp(deps)
  const common = { fetch: app.fetch, maxRequestBodySize: Number.MAX_SAFE_INTEGER }
  try {
    if ('socket' in address) {
      const server = Bun.serve({ ...common, unix: address.socket })
      chmodSync(address.socket, ownerOnly)
      return server
    }
    return Bun.serve({ ...common, hostname: address.host, port: address.port })
  } catch (error) {
    throw listenFailure(error)
  }
}

/** Sweeps now and then once an interval; a failed sweep is logged and tried again. */
function startSweeping(deps: Deps): () => void {
  let running = false
  async function run(): Promise<void> {
    if (running) return
    running = true
    try {
      await sweep(deps)
    } catch {
      deps.log('sweep_failed')
    } finally {
      running = false
    }
  }
  void run()
  const timer = setInterval(() => void run(), sweepIntervalMs)
  return () => clearInterval(timer)
}

/** @throws CommandFailure when the address cannot be had */
export async function startServer(deps: Deps, address: Address): Promise<RunningServer> {
  if ('socket' in address) await clearSocket(address.socket)
  const server = listen(deps, address)
  const stopSweeping = startSweeping(deps)
  return {
    address: 'socket' in address ? address.socket : `http://${server.hostname}:${server.port}`,
    async stop() {
      stopSweeping()
      await Promise.race([server.stop(), Bun.sleep(drainMsMax)])
      if ('socket' in address && existsSync(address.socket)) unlinkSync(address.socket)
      await deps.store.close()
    },
  }
}

/** Resolves on the first SIGTERM or SIGINT. */
export const untilSignalled = (): Promise<void> =>
  new Promise(resolve => {
    process.once('SIGTERM', () => resolve())
    process.once('SIGINT', () => resolve())
  })
