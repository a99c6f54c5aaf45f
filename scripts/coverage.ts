/**
 * Branch coverage of the heart: which outcome of which guard no test sees.
 *
 *     bun scripts/coverage.ts
 *
 * Runs the tests on texts with a probe at each guard. Ends with 1 below 100 %.
 * @module
 */
import { unreachable } from './heart/exceptions.ts'
import { heartFiles, heartTests, root } from './heart/files.ts'
import { findGuards } from './heart/guards.ts'
import { probedTexts } from './heart/probes.ts'
import { runTests } from './heart/test-run.ts'
import { countBranches, openExceptions, printTable } from './heart/verdicts.ts'

process.chdir(root)
const guards = findGuards(heartFiles)
const { verdict, output, outcomes } = await runTests(heartTests, probedTexts(guards), true)
if (verdict !== 'passed') {
  console.error(output)
  process.exit(1)
}

const exceptions = openExceptions(unreachable)
let firstId = 0
const counted = Array.from(guards, ([file, own]) => {
  const branches = countBranches(own, outcomes.slice(firstId), exceptions)
  firstId += own.length
  return { file, guards: own.length, branches }
})
console.log(
  printTable(
    ['file', 'guards', 'branches', 'seen', 'cannot be seen'],
    counted.map(({ file, guards, branches: { total, seen, excepted } }) => [
      file,
      guards,
      total,
      seen,
      excepted,
    ]),
  ),
)
const faults = [
  ...counted.flatMap(({ branches }) => branches.missing),
  ...exceptions.listUnused(heartFiles).map(key => `an exception that is not needed: ${key}`),
]
for (const fault of faults) console.log(fault)
process.exit(faults.length === 0 ? 0 : 1)
