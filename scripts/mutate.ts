/**
 * Mutation of the heart: changes each guard in turn and lists changes that no test catches.
 *
 *     bun scripts/mutate.ts [part of a path]
 *
 * For every change one process runs the tests that reach the guard, on the texts with that change;
 * the checkout stays unchanged. An endless loop counts as caught. Exits with 1 if a change goes
 * unseen that is not among the exceptions.
 * @module
 */
import { equivalent } from './heart/exceptions.ts'
import { heartFiles, heartTests, root } from './heart/files.ts'
import { findGuards } from './heart/guards.ts'
import { probedTexts } from './heart/probes.ts'
import { runTests } from './heart/test-run.ts'
import { findReach, tryMutants } from './heart/trials.ts'
import { countMutations, isCaught, openExceptions, printTable } from './heart/verdicts.ts'

const reportEvery = 100
const startedAtMs = performance.now()
const secondsSinceStart = () => Math.round((performance.now() - startedAtMs) / 1000)

process.chdir(root)
const wanted = process.argv[2] ?? ''
const files = heartFiles.filter(file => file.includes(wanted))
const byFile = findGuards(heartFiles)
const guards = [...byFile.values()].flat()
const reach = await findReach(guards, heartTests, probedTexts(byFile))
const trials = await tryMutants(
  guards,
  reach,
  ({ file }) => files.includes(file),
  (done, of) => {
    if (done % reportEvery === 0) console.error(`${done} of ${of}, ${secondsSinceStart()} s`)
  },
)
// If the checkout was changed in between, nothing was proved.
const { verdict, output } = await runTests(heartTests, new Map(), false)
if (verdict !== 'passed') {
  console.error(output)
  process.exit(1)
}

const exceptions = openExceptions(equivalent)
const counted = files.map(file => {
  const own = trials.filter(({ guard }) => guard.file === file)
  return { file, guards: byFile.get(file)?.length ?? 0, ...countMutations(own, exceptions) }
})
console.log(
  printTable(
    ['file', 'guards', 'inverted', 'changed otherwise', 'caught', 'equivalent', 'survived'],
    counted.map(({ file, guards, inverted, others, caught, equivalent, survivors }) => [
      file,
      guards,
      inverted,
      others,
      caught,
      equivalent,
      survivors.length,
    ]),
  ),
)
const inverted = trials.filter(({ mutant }) => mutant.change === 'inverted')
const caught = inverted.filter(isCaught).length
const endless = trials.filter(({ verdict }) => verdict === 'endless').length
const timeouts = trials.filter(({ verdict }) => verdict === 'timeout').length
console.log(`
${trials.length} changes, ${trials.filter(isCaught).length} caught; ${endless} of these by a loop \
that did not end, ${timeouts} by the clock
${inverted.length} conditions inverted, ${caught} caught
${secondsSinceStart()} s`)
const faults = [
  ...counted.flatMap(({ survivors }) => survivors),
  ...exceptions.listUnused(files).map(key => `an exception that is not needed: ${key}`),
]
for (const fault of faults) console.log(fault)
process.exit(faults.length === 0 ? 0 : 1)
