/**
 * The crash campaign: `bun run test:crash [--short] [--seed N] [--but part …] [part …]`.
 *
 * Runs its parts one after the other, prints a table of figures for `docs/evidence/campaigns.md`
 * and the counts that CI adds up. The same seed draws the same kills, faults and damages; their
 * effects depend on the operating system and differ from run to run.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Part, PartResult, Size } from './part.ts'
import { parts } from './parts/index.ts'

const seedLimit = 2 ** 31

/** Few, so that folds start, run and end all the time. */
const foldRows = '20'
/** They measure, or are of the default settings. */
const atDefaults: readonly string[] = [
  'reveals',
  'deliveries',
  'hostile-load',
  'memory',
  'churn',
  'bit-rot-unfolded',
  'page-rot-2000',
  'page-rot-18000',
  'page-rot-300000',
]

async function runPart(name: string, part: Part, seed: number, size: Size): Promise<PartResult> {
  if (atDefaults.includes(name)) delete process.env['COFFER_FOLD_ROWS']
  else process.env['COFFER_FOLD_ROWS'] = foldRows
  const folder = mkdtempSync(join(tmpdir(), `coffer-crash-${name}-`))
  const started = performance.now()
  try {
    const result = await part({ seed, size, folder, say: line => console.info(`${name}: ${line}`) })
    const seconds = Math.round((performance.now() - started) / 1_000)
    return { ...result, figures: { ...result.figures, seconds } }
  } catch (error) {
    const failure = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { figures: {}, failures: [failure] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function printResult(name: string, { figures, failures, skipped }: PartResult): void {
  const rows = Object.entries(figures).map(([what, count]) => `| ${name} | ${what} | ${count} |`)
  for (const row of rows) console.info(row)
  if (skipped !== undefined) console.info(`(skip) ${name}: ${skipped}`)
  else console.info(failures.length === 0 ? `(pass) ${name}` : `(fail) ${name}`)
  for (const failure of failures.slice(0, 20)) console.info(`  ${failure}`)
}

function readArguments() {
  const { values, positionals } = parseArgs({
    options: {
      short: { type: 'boolean' },
      seed: { type: 'string' },
      but: { type: 'string', multiple: true },
    },
    allowPositionals: true,
  })
  const seed = Number(values.seed ?? Math.floor(Math.random() * seedLimit))
  const { but = [] } = values
  const unknown = [...positionals, ...but].find(name => !(name in parts))
  if (unknown !== undefined || !Number.isInteger(seed)) {
    const names = Object.keys(parts).join(' | ')
    console.error(`usage: test:crash [--short] [--seed N] [--but PART …] [PART …], of ${names}`)
    process.exit(2)
  }
  const size: Size = values.short === true ? 'short' : 'full'
  const named = positionals.length > 0 ? positionals : Object.keys(parts)
  return { seed, size, names: named.filter(name => !but.includes(name)) }
}

const { seed, size, names } = readArguments()
console.info(`crash campaign: ${size}, seed ${seed}`)
const results = new Map<string, PartResult>()
for (const [name, part] of Object.entries(parts)) {
  if (!names.includes(name)) continue
  const result = await runPart(name, part, seed, size)
  // Printed at once, since the other parts may take hours.
  for (const failure of result.failures) console.info(`${name}: failed: ${failure}`)
  results.set(name, result)
}
console.info(`\n| part | figure (${size}, seed ${seed}) | count |\n|---|---|---|`)
for (const [name, result] of results) printResult(name, result)
const failed = [...results.values()].filter(({ failures }) => failures.length > 0).length
const skipped = [...results.values()].filter(result => result.skipped !== undefined).length
console.info(` ${results.size - failed - skipped} pass\n ${failed} fail`)
process.exit(failed === 0 ? 0 : 1)
