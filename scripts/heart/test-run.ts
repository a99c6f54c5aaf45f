/**
 * Runs tests on other texts of the heart, in a process of its own. The checkout is never changed.
 * @module
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './files.ts'

/** What the preload is told, as JSON. */
export interface Order {
  /** Absolute path of a file to the text that stands in for its own. */
  readonly texts: Readonly<Record<string, string>>
  /** Where to write how often each outcome of each guard was seen. */
  readonly outcomesOut?: string
  readonly evaluationsMax: number
  readonly endlessExitCode: number
}

/** `endless`: a loop that would not end, found by counting. `timeout`: by the clock or memory. */
export type Verdict = 'passed' | 'failed' | 'endless' | 'timeout'

/** Of one guard. More than ten times what any of them needs when nothing is changed. */
const evaluationsMax = 20_000_000
const endlessExitCode = 86
const runMsMax = 60_000
/** Where nothing is changed, no run is endless: it may take what a busy machine needs. */
const probedRunMsMax = 1_200_000
const residentBytesMax = 2_000_000_000
const memoryCheckMs = 250

/** How often outcome 0 and outcome 1 of a guard were seen; null when it was not reached. */
export type Outcomes = readonly [number, number] | null

export interface TestRun {
  readonly verdict: Verdict
  readonly output: string
  /** By guard, where the texts hold probes. */
  readonly outcomes: readonly Outcomes[]
}

/** 0 where the system does not say. */
const residentBytes = (pid: number): number => {
  try {
    const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
    return Number(pages) * 4096
  } catch {
    return 0
  }
}

const readOutcomes = (path: string): TestRun['outcomes'] => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as TestRun['outcomes']
  } catch {
    return []
  }
}

/**
 * @param tests     paths from the root; at least one
 * @param texts     path from the root to the text that stands in for the file
 * @param isProbed  whether the texts hold probes
 */
export async function runTests(
  tests: readonly string[],
  texts: ReadonlyMap<string, string>,
  isProbed: boolean,
): Promise<TestRun> {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-heart-'))
  const outcomesOut = join(folder, 'outcomes.json')
  const order: Order = {
    texts: Object.fromEntries(Array.from(texts, ([path, text]) => [join(root, path), text])),
    ...(isProbed ? { outcomesOut } : {}),
    evaluationsMax,
    endlessExitCode,
  }
  writeFileSync(join(folder, 'order.json'), JSON.stringify(order))
  const msMax = isProbed ? probedRunMsMax : runMsMax
  const options = ['--preload', './scripts/heart/preload.ts', '--timeout', String(msMax)]
  const child = Bun.spawn(
    [process.execPath, 'test', '--bail', '--seed=1', ...options, ...tests.map(test => `./${test}`)],
    {
      cwd: root,
      env: { ...process.env, COFFER_HEART: join(folder, 'order.json') },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
      timeout: msMax,
      killSignal: 'SIGKILL',
    },
  )
  const watch = setInterval(() => {
    if (residentBytes(child.pid) > residentBytesMax) child.kill('SIGKILL')
  }, memoryCheckMs)
  const [output, exitCode] = await Promise.all([child.stderr.text(), child.exited])
  clearInterval(watch)
  const outcomes = isProbed ? readOutcomes(outcomesOut) : []
  rmSync(folder, { recursive: true })
  return { verdict: verdictOf(exitCode, child.signalCode), output, outcomes }
}

const verdictOf = (exitCode: number, signal: string | number | null): Verdict => {
  if (signal === 'SIGKILL') return 'timeout'
  if (exitCode === endlessExitCode) return 'endless'
  return exitCode === 0 ? 'passed' : 'failed'
}
