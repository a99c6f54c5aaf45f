/**
 * Output of a serving process on stderr: events, and the request log.
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
  /** Absent if no request is logged. */
  readonly observe: Deps['observe'] | undefined
  /** Writes waiting lines, within a time limit. */
  readonly end: () => Promise<void>
}

/** Writes by other processes cannot interleave: there are none, or the file keeps them apart. */
const isWholeAtOnce = (worker: number | undefined): boolean =>
  worker === undefined || fstatSync(stderr).isFile()

/** Written at any log level: an incomplete log must say so. */
const dropLine = (logs: LogSettings, count: number): string =>
  makeLine(logs, stderrPlace())('log_lines_dropped', { count })

/** Adds the number of the worker to each event. */
const ofWorker = (log: Log, worker: number | undefined): Log =>
  worker === undefined ? log : (event, facts = {}) => log(event, { worker, ...facts })

/** @param worker number of this process, if there are several */
export function startLogging(logs: LogSettings, worker?: number): Logging {
  const place = stderrPlace()
  if (logs.logRequests === 'off') {
    const log = ofWorker(makeLog(logs, place), worker)
    return { log, observe: undefined, end: () => Promise.resolve() }
  }
  const batchBytes = isWholeAtOnce(worker) ? logBatchBytes : logSharedWriteBytes
  const writer = makeLineWriter(stderr, batchBytes, count => dropLine(logs, count))
  // An event does not interrupt a batch; if there is none, it is written at once.
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
