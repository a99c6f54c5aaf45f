/**
 * Branch coverage of the heart: lists outcomes of guards that no test reaches.
 *
 *     bun scripts/coverage.ts
 *
 * Runs the tests on instrumented texts. Exits with 1 below 100 %.
 * @module
 */
import { heartFiles, heartTests, root } from './heart/files.ts'
import { findGuards } from './heart/guards.ts'
import { probedTexts } from './heart/probes.ts'
import { runTests } from './heart/test-run.ts'
import { countBranches, printTable } from './heart/verdicts.ts'

process.chdir(root)
const guards = findGuards(heartFiles)
const { verdict, output, outcomes } = await runTests(heartTests, probedTexts(guards), true)
if (verdict !== 'passed') {
  console.error(output)
  process.exit(1)
}

let firstId = 0
const counted = Array.from(guards, ([file, own]) => {
  const branches = countBranches(own, outcomes.slice(firstId))
  firstId += own.length
  return { file, guards: own.length, branches }
})
console.log(
  printTable(
    ['file', 'guards', 'branches', 'seen'],
    counted.map(({ file, guards, branches: { total, seen } }) => [file, guards, total, seen]),
  ),
)
const missing = counted.flatMap(({ branches }) => branches.missing)
for (const branch of missing) console.log(branch)
process.exit(missing.length === 0 ? 0 : 1)
