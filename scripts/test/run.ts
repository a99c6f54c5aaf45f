/**
 * Runs the test files on the binary, in a few processes.
 * @module
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileTime } from '../../test/support/file-times.ts'
import { leftOut } from './sets.ts'

/** Limit of one test: catches one that hangs; no measure of the machine's speed. */
const testMsMax = 600_000
/** Test files that run side by side: a test spends half its time waiting for its processes. */
const processes = Math.max(4, availableParallelism())

export interface TestRun {
  readonly passed: number
  readonly failed: number
  readonly times: readonly FileTime[]
}

/** Returns the last number before a word at the end of a line, as in ` 12 pass`; or 0. */
const countIn = (output: string, word: string): number =>
  Number([...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))].at(-1)?.[1] ?? 0)

const readTimes = (path: string): FileTime[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))

/**
 * Shows failures while they run; a run without a count has failed.
 * @param paths test files or folders; empty for all of the set
 */
export async function runTests(isQuick: boolean, paths: readonly string[]): Promise<TestRun> {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-times-'))
  const timesPath = join(folder, 'times')
  const child = Bun.spawn(
    [
      process.execPath,
      'test',
      '--only-failures',
      `--timeout=${testMsMax}`,
      `--parallel=${processes}`,
      '--no-isolate',
      ...leftOut(isQuick).map(pattern => `--path-ignore-patterns=${pattern}`),
      ...paths,
    ],
    {
      env: {
        ...process.env,
        COFFER_BINARY: 'dist/coffer',
        TEST_TIMES: timesPath,
        ...(isQuick ? { TEST_SET: 'quick' } : {}),
      },
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'pipe',
    },
  )
  let output = ''
  for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
    output += text
    process.stderr.write(text)
  }
  const failed = countIn(output, 'fail')
  const isGood = (await child.exited) === 0
  const times = existsSync(timesPath) ? readTimes(timesPath) : []
  rmSync(folder, { recursive: true })
  return { passed: countIn(output, 'pass'), failed: isGood ? failed : Math.max(failed, 1), times }
}
