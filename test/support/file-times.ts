/**
 * Records the time of each test file, as a line of JSON in the file that `TEST_TIMES` names, for
 * the table at the end of `npm test`.
 * @module
 */
import { afterAll } from 'bun:test'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'

export interface FileTime {
  /** Path from the root of the checkout. */
  readonly file: string
  readonly seconds: number
  /** Processor time of the file and of the ended processes that it started. */
  readonly processorSeconds: number
}

const root = resolve(import.meta.dir, '../..')
const statistics = '/proc/self/stat'
const ticksPerSecond = 100

/** Reads `proc_pid_stat(5)`, which includes children; elsewhere of this process alone. */
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
