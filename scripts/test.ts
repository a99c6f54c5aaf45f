/**
 * What `npm test` runs: the checks side by side, the build, then the quick tests on the binary.
 *
 *     bun scripts/test.ts [test file or folder ...]
 *
 * Says what failed in full and of what passed only how much it was. The last line is
 * `N passed, N failed`, where each check counts as one. Ends with 1 if anything failed.
 * @module
 */
import { resolve } from 'node:path'

const testMsMax = 60_000
/** Folders of long tests, and of those of `.ci/run`, which installs what they need. */
const leftOut = ['slow', 'package', 'browser', 'examples-abroad', 'site']
/** Test files that run side by side, each in a process that others follow in. */
const processes = 2
const caches = 'node_modules/.cache/coffer'

interface Check {
  readonly name: string
  /** A program of a package or a script of ours, and its arguments. */
  readonly command: readonly [string, ...string[]]
}

const program = (name: string): string => `node_modules/.bin/${name}`

const checks: readonly Check[] = [
  {
    name: 'types',
    command: [program('tsc'), '--noEmit', '--incremental', '--tsBuildInfoFile', `${caches}/types`],
  },
  { name: 'lint', command: [program('oxlint'), '--deny-warnings'] },
  { name: 'unused code', command: [program('knip')] },
  {
    name: 'format',
    command: [
      program('prettier'),
      '--check',
      '--log-level=warn',
      '--cache',
      '--cache-strategy=content',
      `--cache-location=${caches}/format`,
      'src',
      'test',
      'scripts',
      'examples',
    ],
  },
  { name: 'build', command: ['scripts/build.ts'] },
]

const secondsSince = (start: number): string =>
  `${((performance.now() - start) / 1000).toFixed(1)} s`

/** What `bun ARGS` wrote, once it has ended. */
async function runBun(args: readonly string[]): Promise<{ output: string; exitCode: number }> {
  const child = Bun.spawn([process.execPath, ...args], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  return { output: output + errors, exitCode }
}

async function runCheck({ name, command }: Check): Promise<boolean> {
  const start = performance.now()
  const { output, exitCode } = await runBun(command)
  console.log(`${exitCode === 0 ? 'passed' : 'FAILED'}  ${name}, ${secondsSince(start)}`)
  if (exitCode !== 0) console.log(output)
  return exitCode === 0
}

/** The last number before a word at the end of a line, as in ` 12 pass`; 0 where there is none. */
const countIn = (output: string, word: string): number =>
  Number([...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))].at(-1)?.[1] ?? 0)

/** Runs the tests on the binary, showing what they write; a run without a count has failed. */
async function runTests(paths: readonly string[]): Promise<{ passed: number; failed: number }> {
  const child = Bun.spawn(
    [
      process.execPath,
      'test',
      '--only-failures',
      `--timeout=${testMsMax}`,
      `--parallel=${processes}`,
      '--no-isolate',
      ...leftOut.map(name => `--path-ignore-patterns=**/test/${name}/**`),
      ...paths,
    ],
    {
      env: { ...process.env, COFFER_BINARY: 'dist/coffer' },
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
  return {
    passed: countIn(output, 'pass'),
    failed: (await child.exited) === 0 ? failed : Math.max(failed, 1),
  }
}

process.chdir(resolve(import.meta.dir, '..'))
const checked = await Promise.all(checks.map(runCheck))
const good = checked.filter(Boolean).length
const bad = checked.length - good
const tests = bad === 0 ? await runTests(process.argv.slice(2)) : { passed: 0, failed: 0 }
console.log(`${good + tests.passed} passed, ${bad + tests.failed} failed`)
process.exit(bad + tests.failed === 0 ? 0 : 1)
