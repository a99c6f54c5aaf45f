/**
 * A vault with two webhooks, and clients that write tokens while it is killed.
 * @module
 */
import { mkdirSync } from 'node:fs'
import { receiverAddress, writeAuthority } from '../../support/receivers.ts'
import type { Keys } from '../clients/client.ts'
import {
  connectAll,
  makeVault,
  openHome,
  startServer,
  type Home,
  type Server,
  type Shared,
} from '../clients/server.ts'
import type { Draw } from '../draw.ts'
import { startMoodyReceiver, type MoodyReceiver } from './receivers.ts'

export interface Hook {
  readonly id: string
  readonly receiver: MoodyReceiver
}

export interface World {
  readonly home: Home
  readonly keys: Keys
  readonly draw: Draw
  readonly hooks: readonly Hook[]
  /** Number of writes that were answered. */
  writes: number
}

export const types = ['created', 'updated', 'deleted'] as const

const clients = 4
/** So that deliveries keep up. */
const restMs = 8

const environment = { COFFER_EGRESS_ALLOW: receiverAddress, NODE_EXTRA_CA_CERTS: writeAuthority() }

async function makeHook(home: Home, { management: key }: Keys, draw: Draw): Promise<Hook> {
  const receiver = await startMoodyReceiver(draw)
  const [connection] = await connectAll(home, 1)
  const body = {
    name: 'campaign',
    url: `https://${receiverAddress}:${receiver.port}/`,
    events: types.map(type => `token.${type}`),
  }
  const made = await connection?.ask('POST', '/webhooks', { key, body })
  connection?.close()
  if (made?.status !== 201) throw new Error(`no webhook: ${made?.text}`)
  return { id: String((JSON.parse(made.text) as { id: string }).id), receiver }
}

export async function openWorld(folder: string, draw: Draw, shared?: Shared): Promise<World> {
  mkdirSync(folder)
  const home = { ...openHome(folder, undefined, shared), environment }
  const keys = await makeVault(home)
  const server = startServer(home)
  await server.isReady
  const hooks = [await makeHook(home, keys, draw), await makeHook(home, keys, draw)]
  await server.stop()
  return { home, keys, draw, hooks, writes: 0 }
}

export async function startReady({ home }: Pick<World, 'home'>): Promise<Server> {
  const server = startServer(home)
  await server.isReady
  return server
}

const takenIn = ({ hooks }: World): number =>
  hooks.reduce((sum, { receiver }) => sum + receiver.taken.size, 0)

type Ask = (method: string, path: string, body?: unknown) => Promise<number>

async function writeOne(ask: Ask, id: string): Promise<void> {
  await ask('POST', '/tokens', { id, type: 'token', data: 1 })
  await ask('PATCH', `/tokens/${id}`, { metadata: { a: 'b' } })
  await ask('DELETE', `/tokens/${id}`)
}

/** Makes, changes and deletes tokens, one client beside the others, until told to stop. */
export async function writeWhile(
  world: World,
  round: string,
  stop: () => Promise<unknown>,
): Promise<void> {
  const { home, keys } = world
  let isOver = false
  const connections = await connectAll(home, clients)
  const writing = connections.map(async (connection, at) => {
    const ask: Ask = async (method, path, body) => {
      const { status } = await connection.ask(method, path, { key: keys.private, body })
      world.writes += 1
      await Bun.sleep(restMs)
      return status
    }
    for (let count = 0; !isOver && connection.isOpen(); count += 1) {
      await writeOne(ask, `${round}-${at}-${count}`).catch(() => {})
    }
  })
  await stop()
  isOver = true
  for (const connection of connections) connection.close()
  await Promise.all(writing)
}

/** Waits for so many more messages. @param isGone true once none will come */
export async function untilTaken(
  world: World,
  more: number,
  isGone: () => boolean = () => false,
): Promise<void> {
  const enough = takenIn(world) + more
  while (takenIn(world) < enough && !isGone()) await Bun.sleep(1)
}
