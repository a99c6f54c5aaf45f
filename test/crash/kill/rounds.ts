/**
 * One kill after the other, at different moments of a server's life.
 * @module
 */
import { clockLeaseMs } from '../../../src/limits/operation-limits.ts'
import { send } from '../clients/client.ts'
import { countAcknowledged, totalOf } from '../clients/ledger.ts'
import {
  check,
  connectClients,
  load,
  start,
  startToReady,
  untilAcknowledged,
  type Scene,
} from '../clients/scene.ts'
import { clearTemporary } from '../clients/server.ts'
import { countRows } from './rows.ts'

/** Moment of the kill: before the server is ready, right after, under load, or in a sweep. */
type KillKind = 'during start-up' | '0 to 60 ms after ready' | 'under load' | 'at a sweep'

/** Kills so far. */
export interface Kills {
  readonly byKind: Map<KillKind, number>
  /** Kills that came amid a sweep, judged by the number of rows before and after. */
  amidSweep: number
}

const earlyMsMax = 60
const sweepRows = 1_000
const sweepExpiryMs = clockLeaseMs + 2_150
const sweepKillMsMax = 60
/** The server that made the rows is killed so long before they are due. */
const beforeDueMs = 50

/** Kills before the server is ready, if possible; a late kill counts as one of the next kind. */
async function killStarting(scene: Scene): Promise<KillKind> {
  const { home, draw, readyMs } = scene
  if (draw(2) === 0) clearTemporary(home)
  const server = start(scene)
  await Bun.sleep(draw(Math.ceil(readyMs.at(-1) ?? 0)))
  await server.kill()
  return (await server.isReady) ? '0 to 60 ms after ready' : 'during start-up'
}

async function killEarly(scene: Scene): Promise<KillKind> {
  const server = await startToReady(scene)
  await load(scene, { ends: () => Bun.sleep(scene.draw(earlyMsMax)), stop: server.kill })
  return '0 to 60 ms after ready'
}

/** @param writes about so many are acknowledged before the kill comes */
async function killLate(scene: Scene, writes: number): Promise<KillKind> {
  const { draw } = scene
  const server = await startToReady(scene)
  await check(scene, false)
  const ends = async (): Promise<void> => {
    await untilAcknowledged(scene, draw(2 * writes))
    await Bun.sleep(draw(4))
  }
  await load(scene, { ends, stop: server.kill })
  return 'under load'
}

/** Makes rows that are due at one instant; returns that instant. */
async function createDue(scene: Scene): Promise<number> {
  const dueMs = Date.now() + sweepExpiryMs
  const [client] = await connectClients(scene, 1)
  if (client === undefined) return dueMs
  const token = { type: 'token', data: 'due', expires_at: new Date(dueMs).toISOString() }
  const body = Array.from({ length: sweepRows }, () => token)
  const question = { key: scene.keys.private, body }
  await send(client, { method: 'POST', path: '/tokenize', question, status: 200 })
  countAcknowledged(scene.ledger, 'items in bulk', sweepRows)
  client.connection.close()
  return dueMs
}

/** The rows are due once the server is back, and only its sweep changes them. */
async function killSweeping(scene: Scene, kills: Kills): Promise<KillKind> {
  const { home, draw } = scene
  const server = await startToReady(scene)
  await check(scene, false)
  const dueMs = await createDue(scene)
  const ends = () => Bun.sleep(dueMs - beforeDueMs - Date.now())
  await load(scene, { ends, stop: server.kill })
  await Bun.sleep(Math.max(0, dueMs - Date.now()))
  const before = await countRows(home.data)
  const sweeping = await startToReady(scene)
  await Bun.sleep(draw(sweepKillMsMax))
  await sweeping.kill()
  const swept = before - (await countRows(home.data))
  if (swept > 0 && swept < sweepRows) kills.amidSweep += 1
  return 'at a sweep'
}

type Kill = (scene: Scene, kills: Kills, writes: number) => Promise<KillKind>

/** Number of kills of each kind, out of a hundred. */
const shares: readonly (readonly [number, Kill])[] = [
  [36, (scene, _, writes) => killLate(scene, writes)],
  [4, killSweeping],
  [14, killStarting],
  [46, killEarly],
]

const byShare = shares.flatMap(([share, kill]) => Array.from({ length: share }, () => kill))

/** Kills once: each kind once first, then at random. @param writes before it, about */
export async function killOnce(scene: Scene, kills: Kills, writes: number): Promise<void> {
  const [, first] = shares[totalOf(kills.byKind)] ?? []
  const kill = first ?? byShare[scene.draw(byShare.length)] ?? killEarly
  const kind = await kill(scene, kills, writes)
  kills.byKind.set(kind, (kills.byKind.get(kind) ?? 0) + 1)
}
