/**
 * One client that tries wrong keys: as fast as they are answered, then without waiting, faster than
 * any server answers.
 *
 * Source: hardening H126.
 * @module
 */
import { strangersPerTurnMax } from '../../../src/limits/limits.ts'
import type { Size } from '../part.ts'
import { startFlood } from './flood.ts'
import { fareUntil, faredText, type Fared } from './good-client.ts'
import { checkUnharmed, portOf, reportStatuses, type Ground } from './ground.ts'
import { startSteadyFlood, type SteadyReport } from './steady-flood.ts'

const tries: Readonly<Record<Size, number>> = { full: 1_000_000, short: 30_000 }
/** Few enough that one turn of the server's loop may hold them all, so that none is ended. */
const waiting = { connections: 4, depth: Math.floor(strangersPerTurnMax / 4) - 1 }
/** The rate stated in the case. */
const perSecond = 100_000
const seconds: Readonly<Record<Size, number>> = { full: 10, short: 2 }
const connections = 4
const goodPace = { connections: 1, restMs: 10, asks: 'reads' } as const
const statusesAllowed = ['401', '429']
const writtenShareMin = 0.5
/** Too short for a person to notice; a server that reads one client to its end takes seconds. */
const goodP99MsMax = 100
/** One request in the whole flood may hit a busy machine. */
const goodLongestMsMax = 1_000

function reportFared({ figures, failures }: Ground, name: string, fared: Fared): void {
  figures[`${name}: good requests meanwhile · p99, longest ms`] = faredText(fared)
  if (fared.othersP99Ms > goodP99MsMax || fared.longestMs > goodLongestMsMax) {
    failures.push(`${name}: good clients are starved: ${faredText(fared)}`)
  }
}

/** Every key is answered, and no connection ends. */
async function tryWaiting(ground: Ground): Promise<void> {
  const name = 'H126, waiting for answers'
  const order = { ...waiting, port: portOf(ground), total: tries[ground.size] }
  const flood = startFlood(order)
  const fared = await fareUntil(ground, goodPace, flood)
  const report = await flood
  reportStatuses(ground, name, report.statuses, statusesAllowed)
  if (report.broken > 0) ground.failures.push(`${name}: ${report.broken} connections ended`)
  if (report.hasLeaked) ground.failures.push(`${name}: the canary is in a refusal`)
  ground.figures[`${name}: wrong keys, each 401 · in a second`] =
    `${report.statuses['401'] ?? 0} · ${Math.round(order.total / report.seconds)}`
  reportFared(ground, name, fared)
}

function checkOrder({ failures }: Ground, name: string, report: SteadyReport): void {
  const { statuses, hasLeaked, silent, dropped, endedInOrder, reset, offered, written } = report
  if (Object.keys(statuses).length === 0) failures.push(`${name}: nothing was answered`)
  if (hasLeaked) failures.push(`${name}: the canary is in a refusal`)
  if (silent > 0) failures.push(`${name}: ${silent} were left without answer or end`)
  // A reset may overtake the last answer on a few connections.
  if (dropped > 0 && endedInOrder < reset) failures.push(`${name}: ended without a word: ${reset}`)
  // The client must have sent its share, or nothing was tested.
  if (written < writtenShareMin * offered) failures.push(`${name}: only ${written} were sent`)
}

/** Each unanswered request follows an answer that ended its connection. */
async function tryWithoutWaiting(ground: Ground): Promise<void> {
  const name = 'H126, without waiting'
  const order = { port: portOf(ground), connections, perSecond, seconds: seconds[ground.size] }
  const flood = startSteadyFlood(order)
  const fared = await fareUntil(ground, goodPace, flood)
  const report = await flood
  reportStatuses(ground, name, report.statuses, statusesAllowed)
  checkOrder(ground, name, report)
  const answered = Object.values(report.statuses).reduce((sum, count) => sum + count, 0)
  const { figures } = ground
  const inSecond = (count: number): number => Math.round(count / order.seconds)
  figures[`${name}: offered · written · answered in a second`] =
    `${inSecond(report.offered)} · ${inSecond(report.written)} · ${inSecond(answered)}`
  figures[`${name}: connections ended by an answer · by a reset · wrong keys behind them`] =
    `${report.endedInOrder} · ${report.reset} · ${report.dropped}`
  figures[`${name}: kept back by the client at most`] = report.mostUnwritten
  reportFared(ground, name, fared)
}

/** H126: wrong keys, with and without waiting for answers. */
export async function tryKeys(ground: Ground): Promise<void> {
  await tryWaiting(ground)
  await checkUnharmed(ground, 'H126, waiting')
  await tryWithoutWaiting(ground)
  await checkUnharmed(ground, 'H126')
}
