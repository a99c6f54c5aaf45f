/**
 * The benchmark: `bun run bench [--quick] [--profile] [--watched] [--only <scenario>]…
 * [--json <file>] [--data <dir>]`.
 *
 * Starts the compiled binary and the floors beside it, drives them in alternation over kept-alive
 * connections, and compares: time is measured as ratios within one run. A quick run fails when a
 * ratio falls below 0.7 of its committed figure; a full run only reports it.
 * @module
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readFacts } from '../seed/facts.ts'
import { autocannonIn } from './autocannon.ts'
import { runToEnd } from './child.ts'
import { compareReports, readCommitted, shareMin, writeReport } from './committed.ts'
import { openDataSets } from './data-sets.ts'
import { drawGraph } from './graph.ts'
import type { LoadGenerator } from './load.ts'
import { describeMachine } from './machine.ts'
import { readOptions, type Options } from './options.ts'
import { figure, machineText, reportOf, sidesTableOf, tableOf, type Report } from './report.ts'
import type { Bench, Outcome, Scenario } from './scenario.ts'
import { accessScenarios } from './scenarios/access.ts'
import { consoleScenarios } from './scenarios/console.ts'
import { createScenarios } from './scenarios/creates.ts'
import { databaseScenarios } from './scenarios/databases.ts'
import { expiryScenarios } from './scenarios/expiry.ts'
import { foldScenarios } from './scenarios/folds.ts'
import { footprintScenarios } from './scenarios/footprint.ts'
import { handRolledScenarios } from './scenarios/hand-rolled.ts'
import { largeScenarios } from './scenarios/large.ts'
import { listScenarios } from './scenarios/lists.ts'
import { readScenarios } from './scenarios/reads.ts'
import { sizeScenarios } from './scenarios/sizes.ts'
import { wrkIn } from './wrk.ts'

const root = resolve(import.meta.dir, '../..')
const binary = join(root, 'dist', 'coffer')
const profiles = join(root, 'dist', 'profiles')
const committedFile = join(root, 'docs', 'performance.json')

const scenarios: readonly Scenario[] = [
  ...readScenarios,
  ...createScenarios,
  ...handRolledScenarios,
  ...databaseScenarios,
  ...listScenarios,
  ...footprintScenarios,
  ...expiryScenarios,
  ...foldScenarios,
  ...largeScenarios,
  ...sizeScenarios,
  ...accessScenarios,
  ...consoleScenarios,
]

const say = (line: string): void => console.info(line)

/** wrk prints its version and fails, with any arguments. */
async function chooseGenerator(folder: string): Promise<LoadGenerator> {
  if (Bun.which('wrk') === null) return autocannonIn(folder)
  const printed = await runToEnd(['sh', '-c', 'wrk --version || true'])
  return wrkIn(folder, printed.split(' [')[0] ?? 'wrk')
}

/** Command under test: the binary, or the source under a profiler. */
function commandOf({ isProfiling }: Options, scenario: string): readonly string[] {
  if (!isProfiling) return [binary]
  const folder = join(profiles, scenario)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const profiling = ['--cpu-prof', '--cpu-prof-md', `--cpu-prof-dir=${folder}`]
  return [process.execPath, ...profiling, join(root, 'src', 'main.ts')]
}

function tokensOf({ isQuick, data }: Options): Bench['tokens'] {
  const small = 10_000
  if (data !== undefined) return { small, large: readFacts(data).tokens }
  return { small, large: isQuick ? small : 1_000_000 }
}

async function runScenario(bench: Bench, scenario: Scenario): Promise<Outcome | undefined> {
  const started = performance.now()
  say(`${scenario.name}:`)
  try {
    const outcome = await scenario.run(bench)
    if (outcome.skipped !== undefined) say(`  skipped: ${outcome.skipped}`)
    return outcome
  } catch (error) {
    say(`(fail) ${scenario.name}: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  } finally {
    say(`  ${((performance.now() - started) / 1_000).toFixed(1)} s`)
  }
}

interface Run {
  readonly report: Report
  /** Scenarios that did not complete. */
  readonly broken: number
}

async function runAll(options: Options, folder: string): Promise<Run> {
  const { isQuick, isWatched, only } = options
  const loads = await chooseGenerator(folder)
  say(`load by ${loads.name}`)
  const vault = openDataSets(folder, options.data, say)
  // In a quick run, compared checks choose their own number of rounds; others are only shown.
  const size = isQuick ? { rounds: 1, seconds: 1 } : { rounds: 3, seconds: 3 }
  const common = {
    isQuick,
    isWatched,
    ...size,
    tokens: tokensOf(options),
    folder,
    loads,
    vault,
    say,
  }
  const wanted = scenarios.filter(({ name, isFullOnly }) =>
    only.length > 0 ? only.includes(name) : !(isQuick && isFullOnly === true),
  )
  const outcomes = new Map<string, Outcome>()
  for (const scenario of wanted) {
    const bench = { ...common, coffer: commandOf(options, scenario.name) }
    const outcome = await runScenario(bench, scenario)
    if (outcome !== undefined) outcomes.set(scenario.name, outcome)
  }
  const machine = await describeMachine(binary, folder, loads.name)
  return { report: reportOf(machine, outcomes), broken: wanted.length - outcomes.size }
}

function write({ json, isQuick }: Options, report: Report): void {
  if (json === undefined) return
  writeReport(json, isQuick ? 'quick' : 'full', report)
  say(`written: ${json}`)
  if (report.points.length === 0) return
  const graph = `${json.replace(/\.json$/, '')}.svg`
  writeFileSync(graph, drawGraph(report.points))
  say(`written: ${graph}`)
}

/**
 * Compares with the committed figures. A ratio that has fallen is measured again: rounds are short,
 * and the machine may be busy with something else.
 * @returns how many ratios were kept, and how many have fallen
 */
async function compareWithCommitted(
  report: Report,
  again: (scenarios: readonly string[]) => Promise<Run>,
): Promise<{ kept: number; fallen: number }> {
  const { quick } = readCommitted(committedFile)
  const first = compareReports(report, quick)
  const fallenOnes = first.filter(({ isKept }) => !isKept)
  const names = new Set(fallenOnes.map(({ finding }) => finding.key.split('.')[0] ?? ''))
  const second = names.size === 0 ? [] : compareReports((await again([...names])).report, quick)
  const comparisons = first.map(
    one => second.find(({ finding, isKept }) => isKept && finding.key === one.finding.key) ?? one,
  )
  for (const { finding, committed, isKept } of comparisons) {
    const { what, unit, median } = finding
    const figures = `${figure(median, unit)}, committed ${figure(committed, unit)}`
    say(`(${isKept ? 'pass' : 'fail'}) ${what}: ${figures}`)
  }
  const kept = comparisons.filter(({ isKept }) => isKept).length
  return { kept, fallen: comparisons.length - kept }
}

async function bench(options: Options): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const { report, broken } = await runAll(options, folder)
  say(`\n${machineText(report)}\n\n${sidesTableOf(report)}\n\n${tableOf(report)}\n`)
  for (const note of report.notes) say(note)
  write(options, report)
  // The committed figures are of the small vault alone.
  const isCompared = options.isQuick && options.data === undefined
  const { kept, fallen } = isCompared
    ? await compareWithCommitted(report, only => runAll({ ...options, only }, folder))
    : { kept: report.findings.filter(({ met }) => met).length, fallen: 0 }
  if (fallen > 0) say(`a ratio is under ${shareMin} of its committed figure`)
  say(` ${kept} pass\n ${fallen + broken} fail`)
  return fallen + broken === 0
}

const options = readOptions(scenarios.map(({ name }) => name))
if (!existsSync(binary)) {
  console.error('bench: there is no dist/coffer: run `npm run build`')
  process.exit(2)
}
process.exit((await bench(options)) ? 0 : 1)
