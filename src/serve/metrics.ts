/**
 * What a serving process tells Prometheus of itself: numbers by names of ours, and nothing that a
 * caller sent or the store holds.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Seen } from '../deps.ts'
import { latencyBucketsSeconds } from '../limits.ts'

/** What is read when somebody asks. */
export interface Gauges {
  /** When the process began, Unix time. */
  readonly startedMs: number
  readonly requestsInFlight: () => number
  /** Rows given so far, and those that are not folded yet. */
  readonly rows: () => { readonly given: number; readonly tail: number }
  readonly fileBytes: () => number
  readonly freeBytes: () => number
  /** How far destruction stays behind the clock. */
  readonly clockBehindMs: () => number
}

export interface Metrics {
  /** Counts one answer. */
  readonly observe: (seen: Seen, elapsedMs: number) => void
  /** In the text format of Prometheus, and its media type. */
  readonly print: () => Promise<{ readonly text: string; readonly contentType: string }>
}

const nowhere = 'none'

/** Linux alone tells; elsewhere there is no such line. Source: proc(5). */
function openFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return undefined
  }
}

function residentBytes(): number {
  try {
    const pages = readFileSync('/proc/self/statm', 'latin1').split(' ')[1]
    return Number(pages) * 4_096
  } catch {
    return process.memoryUsage.rss()
  }
}

function addGauges(registry: Registry, version: string, gauges: Gauges): void {
  const add = (name: string, help: string, read: () => number | undefined): void => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const value = read()
        if (value === undefined) gauge.remove()
        else gauge.set(value)
      },
    })
  }
  const info = { name: 'coffer_info', help: 'the build', labelNames: ['version'] as const }
  new Gauge({ ...info, registers: [registry] }).set({ version }, 1)
  add(
    'process_start_time_seconds',
    'when the process began, Unix time',
    () => gauges.startedMs / 1_000,
  )
  add('coffer_requests_in_flight', 'requests under way', gauges.requestsInFlight)
  add('coffer_store_rows', 'rows given so far, also those that are gone', () => gauges.rows().given)
  add('coffer_store_tail_rows', 'rows that are not folded yet', () => gauges.rows().tail)
  add('coffer_store_file_bytes', 'the database', gauges.fileBytes)
  add('coffer_disk_free_bytes', 'what its disk has left', gauges.freeBytes)
  const behind = 'how far destruction stays behind the clock'
  add('coffer_clock_behind_seconds', behind, () => gauges.clockBehindMs() / 1_000)
  add('process_resident_memory_bytes', 'resident memory', residentBytes)
  add('process_open_fds', 'open files', openFiles)
  const cpu: Counter = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'user and system time of the processor',
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage()
      cpu.reset()
      cpu.inc((user + system) / 1e6)
    },
  })
}

/** Keeps what is made for a text: labels of the library are digested anew for each answer. */
function keptByText<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>()
  return text => {
    let known = made.get(text)
    if (known === undefined) made.set(text, (known = make(text)))
    return known
  }
}

/** Of names of operations, statuses and kinds of errors alone: there are few of each. */
export function makeMetrics(version: string, gauges: Gauges): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({
    name: 'coffer_requests_total',
    help: 'answers, by operation and status',
    labelNames: ['operation', 'status'] as const,
    registers,
  })
  const refusals = new Counter({
    name: 'coffer_refusals_total',
    help: 'answers that are errors, by kind',
    labelNames: ['kind'] as const,
    registers,
  })
  const durations = new Histogram({
    name: 'coffer_request_duration_seconds',
    help: 'from the head of a request to its answer',
    labelNames: ['operation'] as const,
    buckets: [...latencyBucketsSeconds],
    registers,
  })
  addGauges(registry, version, gauges)
  const countersOf = keptByText(operation =>
    keptByText(status => requests.labels({ operation, status })),
  )
  const durationOf = keptByText(operation => durations.labels({ operation }))
  return {
    observe({ operation = nowhere, status, refusal, startedMs }, elapsedMs) {
      countersOf(operation)(String(status)).inc()
      durationOf(operation).observe((elapsedMs - startedMs) / 1_000)
      if (refusal !== undefined) refusals.inc({ kind: refusal })
    },
    print: async () => ({ text: await registry.metrics(), contentType: registry.contentType }),
  }
}
