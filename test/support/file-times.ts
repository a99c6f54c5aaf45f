/**
 * What each test file takes, as a line of JSON in the file that `TEST_TIMES` names: the
 * table at the end of `npm test`.
 * @module
 */
import { afterAll } from 'bun:test'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'

export interface FileTime {
  /** Path from the root of the checkout. */
  readonly file: string
  readonly seconds: number
  /** Of the processor, by it and by the processes that it started and that have ended. */
  readonly processorSeconds: number
}

const root = resolve(import.meta.dir, '../..')
const statistics = '/proc/self/stat'
const ticksPerSecond = 100

/** By `proc_pid_stat(5)`, which knows of children too; elsewhere of this process alone. */
function processorSeconds(): number {
  if (!existsSync(statistics)) {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000_000
  }
  const text = readFileSync(statistics, 'utf8')
  const ticks = text.slice(text.lastIndexOf(')')).split(' ').slice(12, 16)
  return ticks.reduce((sum, each) => sum + Number(each), 0) / ticksPerSecond
}

/** Called once before the first file of a process. */
export function recordFileTimes(): void {
  const path = process.env['TEST_TIMES']
  if (path === undefined) return
  let from = { ms: performance.now(), processor: processorSeconds() }
  afterAll(() => {
    const now = { ms: performance.now(), processor: processorSeconds() }
    const time: FileTime = {
      file: relative(root, Bun.main),
      seconds: (now.ms - from.ms) / 1_000,
      processorSeconds: now.processor - from.processor,
    }
    appendFileSync(path, `${JSON.stringify(time)}\n`)
    from = now
  })
}
