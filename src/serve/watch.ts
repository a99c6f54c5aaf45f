/**
 * What is told of a serving process to whoever runs it: numbers, and whether it is well.
 * @module
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import type { TcpAddress } from '../config.ts'
import type { Deps, Seen } from '../deps.ts'
import { freeSpaceBytesMin } from '../limits.ts'
import { foldLagMax } from '../store/limits.ts'
import { freeBytesAt } from '../store/lmdb/write/write-group.ts'
import type { App } from './app.ts'
import type { BackupSchedule } from './backups/schedule.ts'
import type { OpenedFolder } from './data-folder.ts'
import { CommandFailure } from './failure.ts'
import { startOps, type Checks, type OpsServer } from './ops.ts'
import { elapsedMs, wallMs } from './system.ts'

/** Counts from the start; tells once it listens. */
interface Watch {
  readonly observe: (seen: Seen) => void
  /** @throws CommandFailure when the address cannot be had */
  readonly listen: (address: TcpAddress, app: App) => OpsServer
}

function checksOf(
  { store }: OpenedFolder,
  { settings }: Deps,
  app: App,
  free: () => number,
  backups?: BackupSchedule,
): Checks {
  return {
    stopping: app.isEnding,
    // Throws where it cannot be read; a failed commit ends the process.
    store: () => store.state() === undefined,
    disk: () => free() < freeSpaceBytesMin,
    fold: () => {
      const { nextOrdinal, foldedTo } = store.state()
      return nextOrdinal - foldedTo > foldLagMax * settings.foldRows
    },
    ...(backups === undefined ? {} : { backup: backups.isOverdue }),
  }
}

/** What counts is loaded only where somebody asks for it: others start without it. */
export async function makeWatch(
  opened: OpenedFolder,
  deps: Deps,
  backups?: BackupSchedule,
): Promise<Watch> {
  const { makeMetrics } = await import('./metrics.ts')
  const { store, storeFolder, ring } = opened
  const freeBytes = freeBytesAt(storeFolder)
  let underWay = (): number => 0
  const metrics = makeMetrics(version, {
    startedMs: Math.round(wallMs() - elapsedMs()),
    requestsInFlight: () => underWay(),
    rows() {
      const { nextOrdinal, foldedTo } = store.state()
      return { given: nextOrdinal - 1, tail: nextOrdinal - foldedTo }
    },
    fileBytes: () => statSync(join(storeFolder, 'data.mdb')).size,
    store: store.figures,
    async sweepLagMs() {
      const nowMs = deps.settled()
      const [first] = await store.due(nowMs, 1)
      return first?.deadlineMs === undefined ? 0 : nowMs - first.deadlineMs
    },
    freeBytes,
    keys() {
      const { dataKeys } = ring.keyring()
      return { count: dataKeys.length, madeMs: dataKeys.at(-1)?.madeMs ?? 0 }
    },
    nowMs: deps.now,
    clockBehindMs: () => deps.now() - deps.settled(),
    ...(backups === undefined ? {} : { backups: backups.counts }),
  })
  return {
    observe: seen => metrics.observe(seen, deps.elapsedMs()),
    listen(address, app) {
      underWay = app.underWay
      try {
        return startOps(address, checksOf(opened, deps, app, freeBytes, backups), metrics)
      } catch {
        throw new CommandFailure('cannot listen there: choose another --ops-host or --ops-port')
      }
    },
  }
}
