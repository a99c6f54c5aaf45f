/**
 * Runs tests on changed texts of the heart, in a process of its own. The checkout stays unchanged.
 * @module
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './files.ts'

/** Order to the preload, as JSON. */
export interface Order {
  /** Replacement texts by absolute path. */
  readonly texts: Readonly<Record<string, string>>
  /** File that receives the counts of each guard's outcomes. */
  readonly outcomesOut?: string
  readonly evaluationsMax: number
  readonly endlessExitCode: number
}

/** `endless`: an endless loop, found by counting. `timeout`: stopped by the clock or memory. */
export type Verdict = 'passed' | 'failed' | 'endless' | 'timeout'

/** Bound for one guard: over ten times the need of any of them in unchanged code. */
const evaluationsMax = 20_000_000
const endlessExitCode = 86
const runMsMax = 60_000
/** Unchanged code has no endless runs: it may take as long as a busy machine needs. */
const probedRunMsMax = 1_200_000
const residentBytesMax = 2_000_000_000
const memoryCheckMs = 250

/** Counts of outcomes 0 and 1 of a guard; null if it was not reached. */
export type Outcomes = readonly [number, number] | null

export interface TestRun {
  readonly verdict: Verdict
  readonly output: string
  /** By guard, if the texts hold probes. */
  readonly outcomes: readonly Outcomes[]
}

/** Returns 0 if the system does not tell. */
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
 * @param texts     replacement texts by path from the root
 * @param isProbed  true if the texts hold probes
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
