/**
 * The cluster campaign: `bun run test:cluster [--short | --control] [--seed N]
 * [--only <fault> --times <count>] [--any-speed]`, the last where the machine does other work too.
 *
 * Three vaults over a PostgreSQL of three nodes, which are killed, frozen and switched under load,
 * while connections are cut amid their COMMIT. The same seed draws the same order of faults. The
 * control has a cluster that answers before a write is on any disk, and must find what that loses.
 * @module
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { drawFrom, takeAny } from '../crash/draw.ts'
import { runAhead } from './clock.ts'
import { startCluster } from './cluster.ts'
import * as ofNodes from './faults.ts'
import * as ofWaits from './waits.ts'
import { runLoad, type Load } from './load.ts'
import { endAll } from './processes.ts'
import { startProxy } from '../support/cutting-proxy.ts'
import { add, check, measureUsual, type Scene } from './scene.ts'
import { initVault, makeKey, makeVault, untilServed, verifyVault } from './vaults.ts'

const clientsPerVault = 2
const thinkMs = 20
const faults = { ...ofNodes, ...ofWaits }
const counts = {
  short: {
    cutCommit: 12,
    killPrimary: 2,
    switchPrimary: 1,
    killOneVault: 3,
    cancelWaits: 1,
    terminateWaits: 1,
  },
  control: { killPrimary: 4 },
  full: {
    cutCommit: 100,
    killPrimary: 20,
    switchPrimary: 3,
    killOneVault: 50,
    killNode: 5,
    freezeNode: 3,
    cancelWaits: 20,
    terminateWaits: 20,
    crashWaits: 20,
  },
}
type Size = keyof typeof counts
type Fault = keyof typeof faults

function makeLoads(sockets: readonly string[], key: string, seed: number): Load[] {
  return Array.from({ length: sockets.length * clientsPerVault }, (_, at) => ({
    name: `client-${at}`,
    vault: at % sockets.length,
    sockets,
    key,
    draw: drawFrom(seed + at + 1),
    ledger: { entries: new Map(), acknowledged: 0 },
    samples: [],
    failures: [],
    touched: new Set<string>(),
    answeredMs: new Map<string, number>(),
    expiring: [],
    twins: new Map<string, string>(),
    connection: undefined,
    count: 0,
    retries: 0,
    isPaused: false,
    isIdle: false,
    isOver: false,
  }))
}

async function setUp(
  folder: string,
  seed: number,
  isCareful: boolean,
): Promise<Scene & { readonly key: string }> {
  const cluster = await startCluster(folder, isCareful)
  const proxy = startProxy({ hostname: '127.0.0.1', port: cluster.haproxy })
  const management = await initVault(folder, cluster.haproxy)
  const vaults = [
    makeVault(folder, 'first', cluster.haproxy),
    makeVault(folder, 'second', cluster.haproxy),
    makeVault(folder, 'third', proxy.port),
  ]
  const [first] = vaults
  for (const vault of vaults) await untilServed(vault)
  if (first === undefined) throw new Error('there is no vault')
  const key = await makeKey(first, management)
  const sockets = vaults.map(({ socket }) => socket)
  const loads = makeLoads(sockets, key, seed)
  const figures = new Map<string, number>()
  const isAnySpeed = values['any-speed'] === true
  const found = { failures: [], figures, draw: drawFrom(seed), usualMs: 0, isAnySpeed }
  return { folder, cluster, vaults, proxy, loads, ...found, key }
}

type Counts = Readonly<Partial<Record<Fault, number>>>

function orderOf(scene: Scene, wanted: Counts): Fault[] {
  const all = Object.entries(wanted).flatMap(([name, count]) =>
    Array.from({ length: count }, () => name as Fault),
  )
  return Array.from({ length: all.length }, () => takeAny(scene.draw, all)).filter(
    name => name !== undefined,
  )
}

/** Ends with the first fault that broke a promise: logs say most about what came last. */
async function breakAll(scene: Scene, wanted: Counts): Promise<void> {
  for (const name of orderOf(scene, wanted)) {
    const known = scene.failures.length
    const startedMs = performance.now()
    await faults[name](scene)
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
    console.info(`${new Date().toISOString()} ${name}: ${seconds} s`)
    add(scene, name)
    for (const failure of scene.failures.slice(known)) console.info(`  failed: ${failure}`)
    if (scene.failures.length > 0 && scene.cluster.isCareful) return
  }
}

/** Returns all faults of a size, or one fault as often as is asked for. */
function wantedOf(size: Size): Counts {
  const { only, times } = values
  if (only === undefined) return counts[size]
  if (!(only in faults)) throw new Error('--only: no such fault')
  return { [only]: Number(times ?? 1) }
}

async function run(folder: string, seed: number, size: Size): Promise<Scene> {
  const scene = await setUp(folder, seed, size !== 'control')
  const running = Promise.all(scene.loads.map(load => runLoad(load, thinkMs)))
  try {
    await measureUsual(scene)
    await breakAll(scene, wantedOf(size))
    if (size !== 'control') await runAhead(scene, scene.key)
    await check(scene, true)
  } catch (error) {
    scene.failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  for (const load of scene.loads) load.isOver = true
  await Promise.race([running, Bun.sleep(30_000)])
  for (const { owned } of scene.vaults) owned.child.kill('SIGTERM')
  await Promise.race([
    Promise.all(scene.vaults.map(({ owned }) => owned.child.exited)),
    Bun.sleep(15_000),
  ])
  const verified = await verifyVault(folder)
  if (verified.exitCode !== 0) scene.failures.push(`verify: ${verified.stdout}${verified.stderr}`)
  const sum = (of: (load: Load) => number): number =>
    scene.loads.reduce((total, load) => total + of(load), 0)
  scene.figures.set(
    'writes acknowledged',
    sum(({ ledger }) => ledger.acknowledged),
  )
  scene.figures.set(
    'requests refused or lost',
    sum(({ retries }) => retries),
  )
  return scene
}

const isAsExpected = (failures: readonly string[], size: Size): boolean =>
  size === 'control' ? failures.some(text => text.startsWith('lost: ')) : failures.length === 0

function report({ figures, failures }: Scene, size: Size, seed: number): void {
  console.info(`\n| figure (${size}, seed ${seed}) | count |\n|---|---|`)
  for (const [name, count] of figures) console.info(`| ${name} | ${count} |`)
  for (const failure of failures.slice(0, 20)) console.info(`  ${failure}`)
  const isWell = isAsExpected(failures, size)
  console.info(isWell ? '(pass) cluster\n 1 pass\n 0 fail' : '(fail) cluster\n 0 pass\n 1 fail')
}

const { values } = parseArgs({
  options: {
    short: { type: 'boolean' },
    control: { type: 'boolean' },
    seed: { type: 'string' },
    only: { type: 'string' },
    times: { type: 'string' },
    'any-speed': { type: 'boolean' },
  },
})
const size: Size = values.control === true ? 'control' : values.short === true ? 'short' : 'full'
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
console.info(`cluster campaign: ${size}, seed ${seed}`)
const folder = mkdtempSync(join(tmpdir(), 'coffer-cluster-'))

/** Keeps the logs of nodes, proxies and vaults, for a person who looks for the cause. */
function keepLogs(): void {
  const kept = join(import.meta.dir, '../../dist', `cluster-${seed}`)
  mkdirSync(kept, { recursive: true })
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.log')) copyFileSync(join(folder, name), join(kept, name))
  }
  console.info(`logs: dist/cluster-${seed}`)
}

async function leave(code: number): Promise<never> {
  await endAll()
  if (code !== 0) keepLogs()
  rmSync(folder, { recursive: true, force: true })
  process.exit(code)
}
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => void leave(1))
try {
  const scene = await run(folder, seed, size)
  report(scene, size, seed)
  await leave(isAsExpected(scene.failures, size) ? 0 : 1)
} catch (error) {
  console.error(error)
  console.info(' 0 pass\n 1 fail')
  await leave(1)
}
