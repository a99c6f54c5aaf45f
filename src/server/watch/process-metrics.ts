/**
 * Metrics of a process on its machine, named as Prometheus does, and the delay of its timers.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { loopLookMs, loopWindowMs } from '../../limits/operation-limits.ts'
import { addCounter, gaugeAdder, Registry } from './metric-kinds.ts'
import { elapsedMs, wallMs } from '../process/system.ts'

/** Only Linux provides it; elsewhere the line is left out. Source: proc(5). */
function openFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return undefined
  }
}

/** The soft limit; absent if there is none. Source: proc(5). */
function openFilesMax(): number | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1')
    const found = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
    return found === undefined ? undefined : Number(found)
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

/** @returns the longest delay of a timer in the last one to two windows */
function startLookingAtLoop(): () => number {
  let dueMs = elapsedMs() + loopLookMs
  let windowEndsMs = elapsedMs() + loopWindowMs
  let [before, now] = [0, 0]
  setInterval(() => {
    const nowMs = elapsedMs()
    now = Math.max(now, nowMs - dueMs)
    dueMs = nowMs + loopLookMs
    if (nowMs < windowEndsMs) return
    windowEndsMs = nowMs + loopWindowMs
    before = now
    now = 0
  }, loopLookMs).unref()
  return () => Math.max(before, now)
}

/** @param worker label of each line, if there are several processes */
export function makeProcessMetrics(worker?: string): Registry {
  const registry = new Registry()
  if (worker !== undefined) registry.setDefaultLabels({ worker })
  const add = gaugeAdder(registry)
  const startedSeconds = Math.round(wallMs() - elapsedMs()) / 1_000
  add('process_start_time_seconds', 'when the process began, Unix time', () => startedSeconds)
  add('process_resident_memory_bytes', 'resident memory', residentBytes)
  add('process_open_fds', 'open files', openFiles)
  add('process_max_fds', 'open files that it may have', openFilesMax)
  const lateMs = startLookingAtLoop()
  const late = 'how late a timer came at most, in the last half minute to minute'
  add('coffer_event_loop_lag_seconds', late, () => lateMs() / 1_000)
  const cpu = 'user and system time of the processor'
  addCounter(registry, { name: 'process_cpu_seconds_total', help: cpu, labelNames: [] }, () => {
    const { user, system } = process.cpuUsage()
    return [[{}, (user + system) / 1e6]]
  })
  return registry
}
