/**
 * A vault with its clients and their ledger: put under load, ended, restarted and checked.
 * @module
 */
import { drawFrom, type Draw } from '../draw.ts'
import { checkLedger } from './check.ts'
import type { Client, Keys } from './client.ts'
import { openLedger, totalOf, type Ledger } from './ledger.ts'
import {
  connectAll,
  makeVault,
  openHome,
  startServer,
  type Home,
  type Server,
  type Shared,
} from './server.ts'
import { work } from './work.ts'
import { createShared } from './work-shared.ts'

export interface Scene {
  readonly home: Home
  readonly keys: Keys
  readonly ledger: Ledger
  readonly draw: Draw
  /** Start-up times of the starts that became ready. */
  readonly readyMs: number[]
  /** Latest server, running or not. */
  server: Server | undefined
}

const connectionsMin = 32
const connectionsMax = 64
const checkers = 16

/**
 * @param folder for everything outside the data folder
 * @param shared given if the server is to have several workers
 */
export async function openScene(
  seed: number,
  folder: string,
  data?: string,
  shared?: Shared,
): Promise<Scene> {
  const home = openHome(folder, data, shared)
  const keys = await makeVault(home)
  const rest = { ledger: openLedger(), draw: drawFrom(seed), readyMs: [] }
  const scene: Scene = { home, keys, ...rest, server: undefined }
  const server = await startToReady(scene)
  const [client] = await connectClients(scene, 1)
  if (client !== undefined) await createShared(client)
  await server.stop()
  return scene
}

const endMs = 2_000

async function howServerFares({ server }: Scene): Promise<string> {
  const ended = await Promise.race([server?.ended, Bun.sleep(endMs)])
  return ended === undefined ? 'the server still runs' : `the server: ${JSON.stringify(ended)}`
}

/** Runs a task, then kills the server. @throws Error that also says how the server fared */
export async function useScene<T>(scene: Scene, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    throw new Error(
      `${stack ?? message}; round ${scene.ledger.round}, ${await howServerFares(scene)}`,
    )
  } finally {
    await scene.server?.stop('SIGKILL')
  }
}

/** Starts a server without waiting until it is ready. */
export function start(scene: Scene): Server {
  scene.server = startServer(scene.home)
  return scene.server
}

/** @throws Error if the server ends by itself first */
export async function startToReady(scene: Scene): Promise<Server> {
  const server = start(scene)
  await server.isReady
  scene.readyMs.push(server.readyMs() ?? 0)
  return server
}

/** @param tolerated statuses that any request may get */
export async function connectClients(
  scene: Scene,
  count: number,
  tolerated: readonly number[] = [],
): Promise<Client[]> {
  const { home, ledger, keys, draw } = scene
  const connections = await connectAll(home, count)
  return connections.map((connection, index) => {
    return { ledger, keys, draw, connection, index, tolerated }
  })
}

const closeAll = (clients: readonly Client[]): void => {
  for (const { connection } of clients) connection.close()
}

/** Compares the vault with all promises so far. @param all everything, else a sample */
export async function check(scene: Scene, all: boolean): Promise<void> {
  const clients = await connectClients(scene, checkers)
  await checkLedger(clients, scene.ledger, all)
  closeAll(clients)
}

/** Waits until about so many more writes are acknowledged. */
export async function untilAcknowledged({ ledger }: Scene, writes: number): Promise<void> {
  const enough = totalOf(ledger.acknowledged) + writes
  while (totalOf(ledger.acknowledged) < enough) await Bun.sleep(1)
}

export interface Round {
  /** The load goes on until this resolves or the server is gone. */
  readonly ends: () => Promise<unknown>
  /** Runs after `ends` while the load goes on; it may end the server. */
  readonly stop?: () => Promise<unknown>
  /** Statuses that any request may get. */
  readonly tolerated?: readonly number[]
  /** Longest pause of a client between two steps; no pause by default. */
  readonly restMsMax?: number
}

/**
 * Runs one round of load on a running server.
 * @returns once every request was answered, or never will be
 */
export async function load(scene: Scene, round: Round): Promise<void> {
  const { ends, stop, tolerated, restMsMax = 0 } = round
  const { draw, ledger } = scene
  ledger.round += 1
  const count = connectionsMin + draw(connectionsMax - connectionsMin + 1)
  let isOver = false
  const clients = connectClients(scene, count, tolerated).catch(() => [])
  const all = clients.then(made =>
    Promise.all(made.map(client => work(client, () => isOver, restMsMax))),
  )
  await Promise.race([ends(), all])
  await stop?.()
  isOver = true
  await all
  closeAll(await clients)
}
