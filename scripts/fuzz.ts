/**
 * Fuzzing of the pure modules and of the whole application in process, guided by coverage, and of a
 * listening process, guided by chance:
 * `bun scripts/fuzz.ts [--seconds 60] [--executions N] [--module NAME] [--seed N]`.
 *
 * Mutates texts that reached something new, and checks the invariants after each execution. Without
 * a module it runs all, that many seconds each. Exits with 1 if an invariant broke, and prints the
 * shortest input found for it.
 * Source: hardening F11.
 * @module
 */
import { parseArgs } from 'node:util'
import { watch } from './fuzz/coverage.ts'
import { fuzz, type Result, type Target } from './fuzz/engine.ts'
import { openRandom } from './seed/random.ts'

interface Module {
  /** Patterns of the files that guide it. */
  readonly files: readonly string[]
  /** Loaded late, so that its imports are watched. */
  readonly load: () => Promise<{ readonly target: Target }>
}

const json = 'src/lib/json/*.ts'

const modules: Readonly<Record<string, Module>> = {
  expression: {
    files: ['src/language/expression/**/*.ts', 'src/rules/mask.ts', json],
    load: () => import('./fuzz/targets/expression.ts'),
  },
  search: {
    files: ['src/language/search-query.ts', 'src/rules/{access,instants}.ts'],
    load: () => import('./fuzz/targets/search.ts'),
  },
  'merge-patch': {
    files: ['src/lib/json/merge-patch.ts', json],
    load: () => import('./fuzz/targets/merge-patch.ts'),
  },
  instants: {
    files: ['src/rules/instants.ts'],
    load: () => import('./fuzz/targets/instants.ts'),
  },
  http: {
    files: ['src/{http,tokens,applications,sessions,records,permissions,tenants}/**/*.ts'],
    load: () => import('./fuzz/targets/http.ts'),
  },
  wire: { files: [], load: () => import('./fuzz/targets/wire.ts') },
  json: { files: [json], load: () => import('./fuzz/targets/json.ts') },
}

function usage(): never {
  const names = Object.keys(modules).join('|')
  console.error(`usage: fuzz [--seconds N] [--executions N] [--module ${names}] [--seed N]`)
  process.exit(2)
}

function readArguments() {
  const options = {
    seconds: { type: 'string', default: '60' },
    executions: { type: 'string', default: '1e15' },
    module: { type: 'string' },
    seed: { type: 'string', default: '1' },
  } as const
  const { values } = parseArgs({ options })
  const [seconds, executions, seed] = [values.seconds, values.executions, values.seed].map(Number)
  const { module: name } = values
  if (name !== undefined && modules[name] === undefined) usage()
  if (!(Number(seconds) > 0 && Number(executions) > 0 && Number.isInteger(seed))) usage()
  const budget = { seconds: Number(seconds), executions: Number(executions) }
  return { budget, seed: Number(seed), names: name === undefined ? Object.keys(modules) : [name] }
}

function printResult(
  name: string,
  result: Result,
  reached: { outcomes: number; of: number },
): void {
  const { executions, elapsedMs, cpuMs, corpus, slowest, faults } = result
  const per = (ms: number) => Math.round(executions / (ms / 1_000))
  const cells = [
    name,
    `${executions} executions`,
    `${per(elapsedMs)}/s, ${per(cpuMs)}/CPU s`,
    `corpus ${corpus}`,
    `${reached.outcomes} of ${reached.of} branches`,
    `slowest ${slowest.ms.toFixed(1)} ms`,
    `${faults.length} faults`,
  ]
  console.log(cells.join(' · '))
  if (slowest.ms > 20) console.log(`  slowest: ${JSON.stringify(slowest.input)}`)
  for (const { input, reason } of faults) {
    console.log(`  input: ${JSON.stringify(input)}\n  ${reason.replaceAll('\n', '\n  ')}`)
  }
}

const { budget, seed, names } = readArguments()
let faults = 0
for (const name of names) {
  const { files, load } = modules[name] ?? usage()
  if (names.length > 1) {
    // Each in a process of its own: files are watched only if they are loaded afterwards.
    const args = ['--module', name, ...process.argv.slice(2)]
    const child = Bun.spawn([process.execPath, import.meta.path, ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    if ((await child.exited) !== 0) faults += 1
    continue
  }
  const coverage = watch(files)
  const { target } = await load()
  const result = await fuzz(target, coverage, openRandom(seed), budget)
  printResult(name, result, coverage.reached())
  faults += result.faults.length
}
process.exit(faults === 0 ? 0 : 1)
