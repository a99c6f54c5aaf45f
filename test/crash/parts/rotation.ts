/**
 * Keys that are rotated, retired and put under another master key, again and again, beside a load
 * and alone, while the server, a worker or the command is killed by `kill -9`.
 *
 * Nothing acknowledged is lost, interrupted work is completed after the next start, and no piece of
 * a keyring with retired keys is left in the folder. Source: hardening C7.
 * @module
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer } from '../../support/coffer-process.ts'
import { breachesOf, ledgerFigures, readyFigures } from '../clients/figures.ts'
import { findDamage } from '../clients/integrity.ts'
import { totalOf } from '../clients/ledger.ts'
import { check, openScene, startToReady, useScene } from '../clients/scene.ts'
import { freePort, type Shared } from '../clients/server.ts'
import { pick } from '../draw.ts'
import type { PartOptions, PartResult, Size } from '../part.ts'
import { runControl } from '../rotation/control.ts'
import { openMemory } from '../rotation/keyrings.ts'
import { killOnce, nameOf, runThrough, type Kind, type World } from '../rotation/rounds.ts'
import { makeSteady } from '../rotation/searches.ts'

interface Goal {
  readonly kills: number
  readonly killsBesideWorkers: number
  /** Longest pause of a client between two steps. */
  readonly restMsMax: number
}

const goals: Readonly<Record<Size, Goal>> = {
  full: { kills: 160, killsBesideWorkers: 40, restMsMax: 0 },
  short: { kills: 6, killsBesideWorkers: 2, restMsMax: 100 },
}
const workers = 2
const verifyEvery = 10
const progressEvery = 10
/** Further failures show nothing new. */
const failuresMax = 20

const whats = ['rotate', 'retire', 'rekey'] as const

/** Twice, since most depends on the server. */
const kinds: readonly Kind[] = (
  ['server', 'server', 'command without a server', 'command'] as const
).flatMap(victim => whats.map(what => ({ victim, what })))

/** With several workers a vault cannot be put under another master key. */
const kindsBesideWorkers: readonly Kind[] = (['worker', 'watching process'] as const).flatMap(
  victim => (['rotate', 'retire'] as const).map(what => ({ victim, what })),
)

async function openWorld(options: PartOptions, name: string, shared?: Shared): Promise<World> {
  const folder = join(options.folder, name)
  mkdirSync(folder)
  const scene = await openScene(options.seed, folder, undefined, shared)
  const counts = {
    cutOff: 0,
    amidReseal: 0,
    amidRekey: 0,
    unretired: 0,
    uncommitted: 0,
    receipts: 0,
    retired: 0,
  }
  await startToReady(scene)
  const steady = await makeSteady(scene)
  await scene.server?.stop()
  const { restMsMax } = goals[options.size]
  const rest = { steady, byKind: new Map(), counts, tookMs: new Map(), failures: [], restMsMax }
  return { scene, memory: openMemory(scene.home.data), ...rest }
}

/** Stops the server and runs `verify` on the whole vault. */
async function verify({ scene, failures }: World): Promise<void> {
  const { round } = scene.ledger
  const { exitCode, stderr } = (await scene.server?.stop()) ?? { exitCode: 0, stderr: '' }
  if (exitCode !== 0) failures.push(`round ${round}: exit code ${exitCode}: ${stderr}`)
  const verified = await runCoffer(['verify', '--data', scene.home.data])
  if (verified.exitCode !== 0) failures.push(`round ${round}: ${verified.stdout}${verified.stderr}`)
}

async function killAll(
  world: World,
  of: readonly Kind[],
  kills: number,
  say: PartOptions['say'],
): Promise<void> {
  const { scene, byKind, failures } = world
  for (let count = 0; count < kills; count += 1) {
    const kind = of.find(one => !byKind.has(nameOf(one))) ?? pick(scene.draw, of)
    const failed = failures.length
    if (kind !== undefined) await killOnce(world, kind)
    for (const failure of failures.slice(failed)) say(failure)
    if (failures.length + scene.ledger.breaches.length > failuresMax) return
    if ((count + 1) % verifyEvery === 0) {
      await verify(world)
      await startToReady(scene)
    }
    if ((count + 1) % progressEvery === 0) {
      say(`${count + 1} kills, ${world.counts.retired} keys retired, ${failures.length} failures`)
    }
  }
}

async function endAll(world: World): Promise<void> {
  const { scene, failures } = world
  await check(scene, true)
  await verify(world)
  failures.push(...breachesOf(scene.ledger), ...(await findDamage(scene.home.data)))
}

const figuresOf = ({ byKind, counts, scene, steady, tookMs }: World): PartResult['figures'] => ({
  kills: totalOf(byKind),
  ...Object.fromEntries(byKind),
  'commands that did not come to their end': counts.cutOff,
  'kills that left rows under an older key': counts.amidReseal,
  'kills that left an older key without rows': counts.unretired,
  'kills that left a second master key': counts.amidRekey,
  'keyrings found of commits that were cut off': counts.uncommitted,
  'receipts · keys retired': `${counts.receipts} · ${counts.retired}`,
  'lists and searches meanwhile, each with its exact total': steady.answers,
  'last rotation under load, ms': Math.round(tookMs.get('rotate') ?? 0),
  ...ledgerFigures(scene.ledger),
  ...readyFigures(scene.readyMs),
})

async function runControls({ scene, memory, failures }: World): Promise<PartResult['figures']> {
  await startToReady(scene)
  const { losses, pieces, startsWithOldKey } = await runControl(scene, memory)
  if (losses === 0) failures.push('the control, an older database, was not noticed')
  if (pieces === 0) failures.push('the control, a keyring of before, was not found')
  if (startsWithOldKey) failures.push('the control, an older master key, opened the vault')
  return {
    'control: losses found in an older database': losses,
    'control: pieces found in it of a keyring with a retired key': pieces,
    'control: starts with an older master key': startsWithOldKey ? 1 : 0,
  }
}

async function runAlone(options: PartOptions): Promise<PartResult> {
  const world = await openWorld(options, 'one')
  return useScene(world.scene, async () => {
    await runThrough(world, whats)
    await killAll(world, kinds, goals[options.size].kills, options.say)
    await endAll(world)
    const figures = figuresOf(world)
    const controls = await runControls(world)
    return { figures: { ...figures, ...controls }, failures: world.failures }
  })
}

async function runBesideWorkers(options: PartOptions): Promise<PartResult> {
  const world = await openWorld(options, 'workers', { port: await freePort(), workers })
  return useScene(world.scene, async () => {
    await runThrough(world, ['rotate', 'retire'])
    await killAll(world, kindsBesideWorkers, goals[options.size].killsBesideWorkers, options.say)
    await endAll(world)
    return { figures: figuresOf(world), failures: world.failures }
  })
}

/** The part `rotation`. */
export async function rotateKeys(options: PartOptions): Promise<PartResult> {
  const alone = await runAlone(options)
  if (process.platform !== 'linux') return alone
  const beside = await runBesideWorkers(options)
  const figures = Object.entries(beside.figures)
  const named = figures.map(([what, count]) => [`${workers} workers: ${what}`, count])
  return {
    figures: { ...alone.figures, ...Object.fromEntries(named) },
    failures: [...alone.failures, ...beside.failures],
  }
}
