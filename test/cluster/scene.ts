/**
 * What a campaign runs on, how it waits until all is well again, and what it then checks.
 * @module
 */
import { SQL } from 'bun'
import type { Draw } from '../crash/draw.ts'
import { untilWhole, type Cluster } from './cluster.ts'
import { expectTotal, readOne, type Load } from './load.ts'
import type { CuttingProxy } from '../support/cutting-proxy.ts'
import { hasEnded } from './processes.ts'
import type { Vault } from './vaults.ts'

const probeMs = 2_000
const usualMs = 500
const recoveryMsMax = 5_000
const healthyMs = 120_000
/** Tokens that a client goes on with after a check; the end looks at all of them. */
const workingSet = 60

export interface Scene {
  readonly folder: string
  readonly cluster: Cluster
  readonly vaults: readonly Vault[]
  readonly proxy: CuttingProxy
  readonly loads: readonly Load[]
  readonly failures: string[]
  readonly figures: Map<string, number>
  readonly draw: Draw
}

export function raise({ figures }: Scene, name: string, value: number): void {
  figures.set(name, Math.max(figures.get(name) ?? 0, Math.round(value)))
}

export function add({ figures }: Scene, name: string, count = 1): void {
  figures.set(name, (figures.get(name) ?? 0) + count)
}

async function canWrite(port: number): Promise<boolean> {
  const sql = new SQL(`postgres://postgres@127.0.0.1:${port}/postgres`, {
    max: 1,
    connectionTimeout: 2,
  })
  const writing = sql
    .unsafe('CREATE TABLE IF NOT EXISTS probe (n int)')
    .then(() => sql.unsafe('INSERT INTO probe VALUES (1)'))
    .then(
      () => true,
      () => false,
    )
  const isWritten = await Promise.race([writing, Bun.sleep(probeMs).then(() => false)])
  void sql.close({ timeout: 0 }).catch(() => {})
  return isWritten
}

/** @returns when the database took a write */
export async function untilWritable({ cluster }: Scene): Promise<number> {
  const deadline = performance.now() + healthyMs
  while (performance.now() < deadline) {
    if (await canWrite(cluster.haproxy)) return performance.now()
    await Bun.sleep(100)
  }
  throw new Error('the database takes no writes')
}

/** How long after that until each vault answers as fast as ever. */
export async function untilUsual(scene: Scene, sinceMs: number): Promise<void> {
  for (const vault of scene.vaults.keys()) {
    const isUsual = (load: Load): number | undefined =>
      load.samples.find(({ endMs, tookMs }) => endMs > sinceMs && tookMs < usualMs)?.endMs
    let found: number | undefined
    while (found === undefined && performance.now() < sinceMs + healthyMs) {
      const ends = scene.loads.filter(load => load.vault === vault).map(isUsual)
      const known = ends.filter(end => end !== undefined)
      if (known.length > 0) found = Math.min(...known)
      else await Bun.sleep(50)
    }
    const tookMs = (found ?? Infinity) - sinceMs
    raise(scene, 'slowest recovery of a vault after the database, ms', tookMs)
    if (tookMs > recoveryMsMax) {
      scene.failures.push(`vault ${vault} was itself again only after ${Math.round(tookMs)} ms`)
    }
  }
}

async function insist(what: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await what()
    } catch (error) {
      if (tries === 20) throw error
      await Bun.sleep(250)
    }
  }
}

async function checkLoad(load: Load, vaults: number, isAll: boolean): Promise<void> {
  const ids = isAll ? [...load.ledger.entries.keys()] : [...load.touched]
  for (const id of ids) await insist(() => readOne(load, id, load.draw(vaults)))
  for (let vault = 0; vault < vaults; vault += 1) await insist(() => expectTotal(load, vault))
}

/** With the load at rest, so that every total is known. */
export async function check(scene: Scene, isAll = false): Promise<void> {
  const { loads, vaults, failures } = scene
  for (const load of loads) load.isPaused = true
  const deadline = performance.now() + healthyMs
  while (loads.some(load => !load.isIdle) && performance.now() < deadline) await Bun.sleep(50)
  await Bun.sleep(500)
  await Promise.all(loads.map(load => checkLoad(load, vaults.length, isAll)))
  for (const load of loads) {
    failures.push(...load.failures.splice(0))
    load.samples.length = 0
    for (const id of [...load.touched].slice(0, -workingSet)) load.touched.delete(id)
    load.isPaused = false
    load.isIdle = false
  }
  for (const [at, vault] of vaults.entries()) {
    if (hasEnded(vault.owned)) failures.push(`vault ${at} ended by itself`)
  }
  add(scene, 'checks')
}

export const settle = async (scene: Scene): Promise<void> => {
  await untilWhole(scene.cluster)
  await check(scene)
}
