/**
 * Scene of a campaign, the wait until all is well again, and the checks after it.
 * @module
 */
import { SQL } from 'bun'
import type { Draw } from '../crash/draw.ts'
import { databasePassword, untilWhole, type Cluster } from './cluster.ts'
import { expectTotal, readOne, type Load, type Sample } from './load.ts'
import type { CuttingProxy } from '../support/cutting-proxy.ts'
import { hasEnded } from './processes.ts'
import type { Vault } from './vaults.ts'

const probeMs = 2_000
/** Time to measure before any fault, and in each check against that. */
const baselineMs = 10_000
const windowMs = 1_000
const stepMs = 100
const usualMsMin = 50
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
  /** True if the machine does other work too: a slow p99 is told, and fails nothing. */
  readonly isAnySpeed: boolean
  /** The p99 that counts as usual: twice the one before any fault. */
  usualMs: number
}

export function raise({ figures }: Scene, name: string, value: number): void {
  figures.set(name, Math.max(figures.get(name) ?? 0, Math.round(value)))
}

export function add({ figures }: Scene, name: string, count = 1): void {
  figures.set(name, (figures.get(name) ?? 0) + count)
}

async function canWrite(port: number): Promise<boolean> {
  const sql = new SQL(`postgres://postgres@127.0.0.1:${port}/postgres`, {
    password: databasePassword,
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

const p99Of = (samples: readonly Sample[]): number =>
  samples.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b)[
    Math.ceil(samples.length * 0.99) - 1
  ] ?? Infinity

/** Measures how fast all answers come while nothing is broken. */
export async function measureUsual(scene: Scene): Promise<void> {
  await Bun.sleep(baselineMs / 2)
  for (const { samples } of scene.loads) samples.length = 0
  await Bun.sleep(baselineMs)
  const p99 = p99Of(scene.loads.flatMap(({ samples }) => samples))
  raise(scene, 'p99 before any fault, ms', p99)
  scene.usualMs = Math.max(usualMsMin, 2 * p99)
}

/** The begin of the first window in which each client was answered, and all as fast as usual. */
function usualFrom({ loads, usualMs }: Scene, vault: number, sinceMs: number): number | undefined {
  const own = loads.filter(load => load.vault === vault)
  const nowMs = performance.now()
  for (let fromMs = sinceMs; fromMs + windowMs <= nowMs; fromMs += stepMs) {
    const isWithin = ({ endMs }: Sample) => endMs >= fromMs && endMs < fromMs + windowMs
    const within = own.map(({ samples }) => samples.filter(isWithin))
    const isHeard = within.every(samples => samples.length > 0)
    if (isHeard && p99Of(within.flat()) <= usualMs) return fromMs
  }
  return undefined
}

/** Measures how long it takes after that until the p99 of each vault is as usual. */
export async function untilUsual(scene: Scene, sinceMs: number, fault: string): Promise<void> {
  for (const vault of scene.vaults.keys()) {
    let fromMs: number | undefined
    while (fromMs === undefined && performance.now() < sinceMs + healthyMs) {
      await Bun.sleep(stepMs)
      fromMs = usualFrom(scene, vault, sinceMs)
    }
    const tookMs = (fromMs ?? Infinity) - sinceMs
    raise(scene, `${fault}: longest until p99 is as usual after that, ms`, tookMs)
    if (tookMs > recoveryMsMax && !scene.isAnySpeed) {
      scene.failures.push(`${fault}: vault ${vault}: p99 as usual after ${Math.round(tookMs)} ms`)
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

/** Checks with the load at rest, so that every total is known. */
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
