/**
 * Linearizability: `npm run test:linear [-- --runs N --seed S --from I --short]`.
 *
 * Each run records what several clients do and see at once, while the server is killed or stopped,
 * and has it judged by a checker from outside. Prints a line for each kind and the counts that CI
 * adds up. The same seed draws the same work and faults; `--from I --runs 1` repeats run I alone.
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildChecker, hasGo, judge, type Verdict } from './checker.ts'
import { controls } from './controls.ts'
import { writeHistory, type Operation } from './history.ts'
import { kinds, type Kind } from './kinds.ts'
import { planOf, type Plan } from './plan.ts'
import { runPlan } from './run.ts'

const runsDefault = 160
const runsShort = 12
/** Runs that may follow until each control has had a place. */
const furtherMax = 60
/** Parts of a failed run that are named. */
const shownMax = 8
const seedLimit = 2 ** 30

interface Tally {
  runs: number
  operations: number
  open: number
  /** Runs that were not linearizable, that could not be judged in time, and that broke off. */
  violations: number
  unknown: number
  broken: number
  /** Controls that were tried, and whether they were rejected. */
  readonly tried: Map<string, boolean>
}

interface Campaign {
  readonly seed: number
  readonly folder: string
  readonly checker: string
  readonly tallies: ReadonlyMap<Kind, Tally>
}

const newTally = (): Tally => {
  const counts = { runs: 0, operations: 0, open: 0, violations: 0, unknown: 0, broken: 0 }
  return { ...counts, tried: new Map() }
}

/** Each control once, on the first history that has a place for it in an accepted part. */
async function tryControls(
  { checker, folder }: Campaign,
  kind: Kind,
  history: readonly Operation[],
  { tried }: Tally,
): Promise<void> {
  for (const [name, change] of Object.entries(controls[kind])) {
    if (tried.has(name)) continue
    const changed = structuredClone([...history])
    if (!change(changed)) continue
    const path = join(folder, 'control.jsonl')
    writeHistory(path, changed)
    const { violations } = await judge(checker, kind, path)
    tried.set(name, violations.length === 1)
    if (violations.length !== 1) console.info(`${kind}: accepted a history with ${name}`)
  }
}

function count(tally: Tally, { operations, open, violations, unknown }: Verdict): void {
  tally.operations += operations
  tally.open += open
  if (violations.length > 0) tally.violations += 1
  else if (unknown.length > 0) tally.unknown += 1
}

/**
 * Judges a history and the controls made of it.
 * @returns the parts that were not accepted
 * @throws Error when the checker did not read all of it
 */
async function judgeRun(
  campaign: Campaign,
  { kind }: Plan,
  path: string,
  history: readonly Operation[],
): Promise<readonly string[]> {
  const tally = campaign.tallies.get(kind) ?? newTally()
  const verdict = await judge(campaign.checker, kind, path)
  if (verdict.operations !== history.length) {
    throw new Error(`the checker read ${verdict.operations} of ${history.length} operations`)
  }
  count(tally, verdict)
  const bad = new Set([...verdict.violations, ...verdict.unknown])
  const accepted = history.filter(({ part }) => !bad.has(part))
  await tryControls(campaign, kind, accepted, tally)
  return [...verdict.violations, ...verdict.unknown.map(part => `${part} (unknown)`)]
}

/** @returns true if all was well; else the folder of the run is kept */
async function runOne(campaign: Campaign, plan: Plan): Promise<boolean> {
  const { kind, mode, fault, index } = plan
  const tally = campaign.tallies.get(kind) ?? newTally()
  const name = `${kind}, ${mode}, ${fault}, run ${index}`
  const folder = join(campaign.folder, `run-${index}`)
  const path = join(folder, `${kind}.jsonl`)
  mkdirSync(folder)
  tally.runs += 1
  const history: Operation[] = []
  try {
    await runPlan(plan, folder, history).finally(() => writeHistory(path, history))
    const bad = await judgeRun(campaign, plan, path, history)
    if (bad.length === 0) rmSync(folder, { recursive: true })
    else console.info(`(fail) ${name}: ${bad.slice(0, shownMax).join(' ')}: ${path}`)
    return bad.length === 0
  } catch (error) {
    tally.broken += 1
    const cause = error instanceof Error ? error.stack : String(error)
    console.info(`(fail) ${name}: ${path}: ${cause}`)
    return false
  }
}

function printKind(kind: Kind, tally: Tally): boolean {
  const { runs, operations, open, violations, unknown, broken, tried } = tally
  const rejected = [...tried.values()].filter(Boolean).length
  const wanted = Object.keys(controls[kind])
  const isGood = violations + unknown + broken === 0 && rejected === wanted.length
  const figures = [
    `${runs} runs`,
    `${operations} operations`,
    `${open} open`,
    `${violations} violations`,
    `${unknown} unknown`,
    `${broken} broken off`,
    `${rejected} of ${wanted.length} controls rejected`,
  ]
  console.info(`${isGood ? '(pass)' : '(fail)'} ${kind}: ${figures.join(', ')}`)
  return isGood
}

/** True if a kind that ran has a control that none of its runs had a place for. */
function lacksControls(kind: Kind): boolean {
  const { runs: ran, tried } = tallies.get(kind) ?? newTally()
  return ran > 0 && tried.size < Object.keys(controls[kind]).length
}

function readArguments() {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    options: { runs: text, seed: text, from: text, short: { type: 'boolean' } },
  })
  const runs = Number(values.runs ?? (values.short === true ? runsShort : runsDefault))
  const seed = Number(values.seed ?? Math.floor(Math.random() * seedLimit))
  const from = Number(values.from ?? 0)
  if ([runs, seed, from].every(Number.isInteger))
    return { runs, seed, from, isShort: values.short === true }
  console.error('usage: test:linear [--short] [--runs N] [--seed S] [--from I]')
  process.exit(2)
}

const { runs, seed, from, isShort } = readArguments()
console.info(`linearizability: ${runs} runs from ${from}, seed ${seed}`)
if (!hasGo()) {
  console.info('(skip) linearizability: go is not installed\n 0 pass\n 0 fail')
  process.exit(isShort ? 0 : 1)
}
const folder = mkdtempSync(join(tmpdir(), 'coffer-linear-'))
const tallies = new Map(kinds.map(kind => [kind, newTally()]))
const campaign: Campaign = { seed, folder, checker: await buildChecker(folder), tallies }
let isWhole = true
for (let index = from; index < from + runs; index += 1) {
  if (!(await runOne(campaign, planOf(seed, index)))) isWhole = false
}
// A drawn run may have no place for a control: others of its kind follow until one has.
for (let index = from + runs; index < from + runs + furtherMax; index += 1) {
  const plan = planOf(seed, index)
  if (lacksControls(plan.kind) && !(await runOne(campaign, plan))) isWhole = false
}
const used = [...tallies].filter(([, tally]) => tally.runs > 0)
const good = used.filter(([kind, tally]) => printKind(kind, tally)).length
if (isWhole) rmSync(folder, { recursive: true })
console.info(` ${good} pass\n ${used.length - good} fail`)
process.exit(good === used.length ? 0 : 1)
