/**
 * What a serving process tells on its stderr: events, and the request log beside them.
 * @module
 */
import { fstatSync } from 'node:fs'
import type { Deps, Log } from '../../deps.ts'
import { logBatchBytes, logSharedWriteBytes } from '../../limits/operation-limits.ts'
import type { LogSettings } from '../../settings/serving-settings.ts'
import { makeLineWriter } from './line-writer.ts'
import { makeLine, makeLog } from './log.ts'
import { makeRequestLog } from './request-log.ts'
import { elapsedMs, stderrPlace } from '../process/system.ts'

const stderr = 2

export interface Logging {
  readonly log: Log
  /** Absent where no request is to be logged. */
  readonly observe: Deps['observe'] | undefined
  /** Writes what waits, within a bound. */
  readonly end: () => Promise<void>
}

/** Writes of others do not come in between: there are none, or the disk keeps them apart. */
const isWholeAtOnce = (worker: number | undefined): boolean =>
  worker === undefined || fstatSync(stderr).isFile()

/** The event itself, whatever the level of others: a log that lacks something must say so. */
const dropLine = (logs: LogSettings, count: number): string =>
  makeLine(logs, stderrPlace())('log_lines_dropped', { count })

/** Each event says of which worker it is. */
const ofWorker = (log: Log, worker: number | undefined): Log =>
  worker === undefined ? log : (event, facts = {}) => log(event, { worker, ...facts })

/** @param worker which of several processes this is */
export function startLogging(logs: LogSettings, worker?: number): Logging {
  const place = stderrPlace()
  if (logs.logRequests === 'off') {
    const log = ofWorker(makeLog(logs, place), worker)
    return { log, observe: undefined, end: () => Promise.resolve() }
  }
  const batchBytes = isWholeAtOnce(worker) ? logBatchBytes : logSharedWriteBytes
  const writer = makeLineWriter(stderr, batchBytes, count => dropLine(logs, count))
  // An event comes in the middle of no batch; where there is none, it is there at once.
  const write = (line: string): void => {
    if (writer.isIdle()) place.write(line)
    else writer.write(line)
  }
  const requests = { ...place, write: writer.write, elapsedMs, worker }
  return {
    log: ofWorker(makeLog(logs, { ...place, write }), worker),
    observe: makeRequestLog(logs, requests),
    end: writer.end,
  }
}
