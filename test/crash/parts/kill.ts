/**
 * `kill -9` under load, at start-up and amid sweeps, over HTTP: nothing acknowledged is lost.
 *
 * Source: hardening F1, F8, D1, D9.
 * @module
 */
import { breachesOf, countSingle, ledgerFigures, readyFigures } from '../clients/figures.ts'
import { findDamage } from '../clients/integrity.ts'
import { totalOf } from '../clients/ledger.ts'
import { check, openScene, startToReady, useScene, type Scene } from '../clients/scene.ts'
import { findRollback } from '../kill/control.ts'
import { killOnce, type Kills } from '../kill/rounds.ts'
import type { PartOptions, PartResult, Size } from '../part.ts'

interface Goal {
  readonly kills: number
  /** Writes that are each acknowledged by an answer of their own. */
  readonly writes: number
}

const goals: Readonly<Record<Size, Goal>> = {
  full: { kills: 2_000, writes: 500_000 },
  short: { kills: 60, writes: 5_000 },
}

const progressEvery = 100
/** Further breaches show nothing new. */
const breachesMax = 20

/** Kills until both goals are reached. */
async function killAll(
  scene: Scene,
  kills: Kills,
  goal: Goal,
  say: PartOptions['say'],
): Promise<void> {
  const { ledger } = scene
  for (let count = 0; count < goal.kills || countSingle(ledger) < goal.writes; count += 1) {
    const left = Math.max(1, goal.kills - count)
    // About four kills in ten come under load, and only those get the writes.
    await killOnce(scene, kills, Math.ceil((2.5 * (goal.writes - countSingle(ledger))) / left))
    if (ledger.breaches.length > breachesMax) return
    if ((count + 1) % progressEvery === 0) {
      say(`${count + 1} kills, ${countSingle(ledger)} acknowledged, ${ledger.checked} checked`)
    }
  }
}

/** Checks everything once more, then runs the store's own check. */
async function checkEnd(scene: Scene): Promise<string[]> {
  const server = await startToReady(scene)
  await check(scene, false)
  await check(scene, true)
  const { exitCode } = await server.stop()
  const failures = exitCode === 0 ? [] : [`exit code ${exitCode} after SIGTERM`]
  return [...failures, ...(await findDamage(scene.home.data))]
}

async function runCampaign(scene: Scene, { size, say }: PartOptions): Promise<PartResult> {
  const kills: Kills = { byKind: new Map(), amidSweep: 0 }
  await killAll(scene, kills, goals[size], say)
  const failures = await checkEnd(scene)
  const rolledBack = await findRollback(scene)
  if (rolledBack === 0) failures.push('the control, an older state, was not noticed')
  const byKind = [...kills.byKind].map(([kind, count]) => [`kills ${kind}`, count])
  const figures = {
    kills: totalOf(kills.byKind),
    ...Object.fromEntries(byKind),
    'kills that were seen to come amid a sweep': kills.amidSweep,
    ...ledgerFigures(scene.ledger),
    ...readyFigures(scene.readyMs),
    'control: losses found in an older state': rolledBack,
  }
  return { figures, failures: [...breachesOf(scene.ledger), ...failures] }
}

/** The part `kill`. */
export async function killServer(options: PartOptions): Promise<PartResult> {
  const scene = await openScene(options.seed, options.folder)
  return useScene(scene, () => runCampaign(scene, options))
}
