/**
 * Checks of `npm test` apart from tests, each a process.
 * @module
 */
const caches = 'node_modules/.cache/coffer'

interface Check {
  readonly name: string
  /** A program of a package or a script of ours, and its arguments. */
  readonly command: readonly [string, ...string[]]
}

/** Builds the binary under test. */
export const build: Check = { name: 'build', command: ['scripts/build.ts'] }

export const checks: readonly Check[] = [
  { name: 'lint', command: ['node_modules/.bin/oxlint', '--deny-warnings'] },
  { name: 'types', command: ['node_modules/typescript-7/bin/tsc', '--noEmit'] },
  {
    name: 'types of the console',
    command: ['node_modules/typescript-7/bin/tsc', '--noEmit', '-p', 'src/console/app'],
  },
  { name: 'unused code', command: ['node_modules/.bin/knip'] },
  {
    name: 'format',
    command: [
      'node_modules/.bin/prettier',
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
]

/** Prints findings in full, or only that it passed. */
export async function runCheck({ name, command }: Check): Promise<boolean> {
  const startMs = performance.now()
  const child = Bun.spawn([process.execPath, ...command], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1)
  console.log(`${exitCode === 0 ? 'passed' : 'FAILED'}  ${name}, ${seconds} s`)
  if (exitCode !== 0) console.log(output + errors)
  return exitCode === 0
}
