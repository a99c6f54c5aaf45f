/**
 * Runs `npm test`: the build, then the quick tests on the binary, with the checks beside them.
 *
 *     bun scripts/test.ts [--all] [test file or folder ...]
 *
 * With `--all`, as `npm run test:all` does, or with paths, nothing is shortened. Prints failures in
 * full, of the rest only counts, and the slowest test files. The last line is `N passed, N failed`,
 * where each check counts as one. Exits with 1 if anything failed.
 * @module
 */
import { resolve } from 'node:path'
import type { FileTime } from '../test/support/file-times.ts'
import { build, checks, runCheck } from './test/checks.ts'
import { runTests } from './test/run.ts'

const slowestShown = 15

/** Ranked by processor time: waiting for the processor depends on what runs beside. */
function printSlowest(times: readonly FileTime[]): void {
  const ranked = times.toSorted((a, b) => b.processorSeconds - a.processorSeconds)
  const cell = (seconds: number) => seconds.toFixed(1).padStart(9)
  console.log('processor     whole  test file, in seconds')
  for (const { file, seconds, processorSeconds } of ranked.slice(0, slowestShown)) {
    console.log(`${cell(processorSeconds)} ${cell(seconds)}  ${file}`)
  }
  const sum = times.reduce((total, { processorSeconds }) => total + processorSeconds, 0)
  console.log(`${cell(sum)}            all ${times.length}`)
}

process.chdir(resolve(import.meta.dir, '..'))
const words = process.argv.slice(2)
const paths = words.filter(word => word !== '--all')
const isQuick = paths.length === 0 && !words.includes('--all')
const checking = async (isBuilt: boolean) => [isBuilt, ...(await Promise.all(checks.map(runCheck)))]

const isBuilt = await runCheck(build)
const [tests, checked] = await Promise.all([
  isBuilt ? runTests(isQuick, paths) : { passed: 0, failed: 0, times: [] },
  checking(isBuilt),
])
printSlowest(tests.times)
const bad = checked.filter(isGood => !isGood).length
console.log(`${checked.length - bad + tests.passed} passed, ${bad + tests.failed} failed`)
process.exit(bad + tests.failed === 0 ? 0 : 1)
