/**
 * Sessions that are made and abandoned: they disappear after their three minutes, and their space
 * in the file is reused.
 *
 * Source: hardening H161; contract sections 10 and 12.
 * @module
 */
import { openProbe, type Probe } from '../../../scripts/soak/samples.ts'
import { sweep } from '../../../src/vault/sweep.ts'
import { sessionMsDefault } from '../../../src/limits/limits.ts'
import { openWritableStore } from '../../support/vault-store.ts'
import type { Size } from '../part.ts'
import { startFlood, type FloodReport } from './flood.ts'
import { fareUntil, faredText } from './good-client.ts'
import {
  checkUnharmed,
  pidOf,
  portOf,
  reportStatuses,
  startServer,
  stopServer,
  storeOf,
  type Ground,
} from './ground.ts'

const sessions: Readonly<Record<Size, number>> = { full: 1_000_000, short: 10_000 }
/** Share of sessions made after the first are gone, which must fit into the space of those. */
const secondShare = 0.2
/** One at a time: the server ends a connection that sends more while a write is under way. */
const flooding = { connections: 256, depth: 1 }
const goodPace = { connections: 1, restMs: 20, asks: 'reads' } as const
/** A running server sweeps within 60 s of the expiry (contract section 10). */
const sweptMsMax = 60_000
const growthMax = 1.05

async function makeSessions(ground: Ground, total: number): Promise<FloodReport> {
  const order = { ...flooding, port: portOf(ground), total, sessionKey: ground.keys.public }
  const report = await startFlood(order)
  reportStatuses(ground, 'H161', report.statuses, ['201'])
  if (report.broken > 0) ground.failures.push(`H161: ${report.broken} connections ended`)
  return report
}

/** Waits until no more rows exist than before. @returns milliseconds after the last expiry */
async function waitUntilSwept(ground: Ground, probe: Probe, rows: number): Promise<number> {
  const dueMs = performance.now() + sessionMsDefault
  while (probe.read()['live rows'] > rows) {
    if (performance.now() > dueMs + sweptMsMax) {
      ground.failures.push(`H161: ${probe.read()['live rows'] - rows} sessions stay`)
      break
    }
    await Bun.sleep(200)
  }
  return Math.max(0, performance.now() - dueMs)
}

const mebibytes = (kibibytes: number): string => (kibibytes / 1_024).toFixed(0)

/** The server sweeps them, and its file does not grow for the next ones. */
async function sweepServing(ground: Ground, rows: number): Promise<void> {
  const { figures, failures } = ground
  const probe = openProbe(pidOf(ground), storeOf(ground))
  const fullKib = probe.read()['data.mdb, KiB']
  const swept = waitUntilSwept(ground, probe, rows)
  const fared = await fareUntil(ground, goodPace, swept)
  const second = Math.round(sessions[ground.size] * secondShare)
  await makeSessions(ground, second)
  const laterKib = probe.read()['data.mdb, KiB']
  const memoryKib = probe.read()['resident memory without files, KiB']
  await probe.close()
  if (laterKib > fullKib * growthMax) failures.push(`H161: the file grew to ${laterKib} KiB`)
  figures['H161: gone after the end of the last, s'] = ((await swept) / 1_000).toFixed(1)
  figures['H161: good requests while they go · p99, longest ms'] = faredText(fared)
  figures[`H161: file with them · after, with ${second} more, MiB`] =
    `${mebibytes(fullKib)} · ${mebibytes(laterKib)}`
  figures['H161: memory without files, MiB'] = mebibytes(memoryKib)
}

/** Sweeps without a server, with a clock three minutes ahead. */
async function sweepAhead(ground: Ground): Promise<void> {
  await stopServer(ground)
  const store = await openWritableStore(ground.home.data)
  const removed = await sweep({
    store,
    settled: () => Date.now() + sessionMsDefault,
    elapsedMs: () => performance.now(),
  })
  await store.close()
  if (removed !== sessions[ground.size]) ground.failures.push(`H161: ${removed} were swept`)
  ground.figures['H161: swept, three minutes ahead'] = removed
  await startServer(ground)
}

/** H161: sessions are made and abandoned. */
export async function abandonSessions(ground: Ground): Promise<void> {
  const probe = openProbe(pidOf(ground), storeOf(ground))
  const rows = probe.read()['live rows']
  await probe.close()
  const made = makeSessions(ground, sessions[ground.size])
  const fared = await fareUntil(ground, goodPace, made)
  const { statuses, seconds } = await made
  ground.figures['H161: sessions abandoned · in a second'] =
    `${statuses['201'] ?? 0} · ${Math.round(sessions[ground.size] / seconds)}`
  ground.figures['H161: good requests meanwhile · p99, longest ms'] = faredText(fared)
  ground.say(`${sessions[ground.size]} sessions made`)
  await checkUnharmed(ground, 'H161 while they stand')
  if (ground.size === 'full') await sweepServing(ground, rows)
  else await sweepAhead(ground)
  await checkUnharmed(ground, 'H161')
}
