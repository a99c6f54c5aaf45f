/**
 * Faults that the campaign makes in the cluster, the vaults and the connections between them.
 * @module
 */
import { join } from 'node:path'
import { pick } from '../crash/draw.ts'
import { findPrimary, switchOver, type Node } from './cluster.ts'
import { childrenOf, postmasterOf, signal } from './processes.ts'
import { add, check, raise, settle, untilUsual, untilWritable, type Scene } from './scene.ts'
import { killVault } from './vaults.ts'

const frozenMs = 30_000
const cutWaitMs = 20_000

async function primaryOf(scene: Scene): Promise<Node> {
  const primary = await findPrimary(scene.cluster)
  if (primary === undefined) throw new Error('there is no primary')
  return primary
}

const postmaster = (node: Node): number | undefined => postmasterOf(join(node.folder, 'data'))

async function recover(scene: Scene, fault: string, startedMs: number): Promise<void> {
  const sinceMs = await untilWritable(scene)
  raise(scene, `${fault}: longest until the database took a write, ms`, sinceMs - startedMs)
  await untilUsual(scene, sinceMs, fault)
}

export async function killPrimary(scene: Scene): Promise<void> {
  const primary = await primaryOf(scene)
  const startedMs = performance.now()
  signal(postmaster(primary), 'SIGKILL')
  await recover(scene, 'primary killed', startedMs)
  await settle(scene)
}

export async function killNode(scene: Scene): Promise<void> {
  const primary = await primaryOf(scene)
  const startedMs = performance.now()
  const server = postmaster(primary)
  signal(primary.patroni.pid, 'SIGKILL')
  signal(server, 'SIGKILL')
  await recover(scene, 'node killed', startedMs)
  scene.cluster.start(primary)
  await settle(scene)
}

export async function freezeNode(scene: Scene): Promise<void> {
  const primary = await primaryOf(scene)
  const startedMs = performance.now()
  const server = postmaster(primary)
  const backends = server === undefined ? [] : [server, ...childrenOf(server)]
  const pids = [primary.patroni.pid, ...backends]
  for (const pid of pids) signal(pid, 'SIGSTOP')
  try {
    await Bun.sleep(1_000)
    await recover(scene, 'node frozen', startedMs)
    await Bun.sleep(Math.max(0, frozenMs - (performance.now() - startedMs)))
  } finally {
    for (const pid of pids) signal(pid, 'SIGCONT')
  }
  await settle(scene)
}

export async function switchPrimary(scene: Scene): Promise<void> {
  const startedMs = performance.now()
  await switchOver(scene.cluster)
  await recover(scene, 'switchover', startedMs)
  await settle(scene)
}

export async function killOneVault(scene: Scene): Promise<void> {
  const vault = scene.vaults[scene.draw(scene.vaults.length)]
  if (vault === undefined) return
  await killVault(vault)
  await untilUsual(scene, performance.now(), 'vault killed')
  await check(scene)
}

const cuts = ['before', 'at', 'after'] as const

export async function cutCommit(scene: Scene): Promise<void> {
  const { proxy } = scene
  const [cutBefore, landedBefore] = [proxy.cuts(), proxy.landed()]
  const cut = pick(scene.draw, cuts) ?? 'at'
  proxy.arm(cut)
  const deadline = performance.now() + cutWaitMs
  while (proxy.cuts() === cutBefore && performance.now() < deadline) await Bun.sleep(10)
  if (proxy.cuts() === cutBefore) throw new Error('no COMMIT came by')
  await untilUsual(scene, performance.now(), 'COMMIT cut')
  add(scene, `COMMITs cut, ${cut}`)
  add(scene, 'COMMITs that landed and whose reply was cut', proxy.landed() - landedBefore)
  if (scene.draw(3) === 0) await check(scene)
}
