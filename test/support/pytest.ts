/**
 * Tests in Python, with the clients that `scripts/install-client-tools` installs.
 * @module
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
const programs = join(cache, 'coffer/clients-7.4.0-3.0.0-1.1.0-1.23.9/bin')
const program = join(programs, 'pytest')
/** Python with the same packages. */
export const pythonAbroad = join(programs, 'python')
/** Go, from 1.21 on. */
export const goAbroad = join(programs, 'go')
const root = resolve(import.meta.dir, '../..')

/** Binary under test, for tests in other languages. */
export const binary = process.env['COFFER_BINARY']
export const binaryMissing = 'COFFER_BINARY names no binary'

export const hasPytest = existsSync(program)
export const pytestMissing =
  'the clients in Python are not installed: see scripts/install-client-tools'

/**
 * Environment of a program in another language: names the binary by a variable that is no setting
 * of a vault, and keeps the rest, where compilers look for their caches.
 */
export function environmentAbroad(): Readonly<Record<string, string | undefined>> {
  const { COFFER_BINARY: path = '', ...env } = process.env
  return { ...env, COFFER: resolve(root, path) }
}

export interface Results {
  /** Outcomes by name of the test: `passed`, `failed`, …, as pytest reports them. */
  readonly outcomes: ReadonlyMap<string, string>
  readonly output: string
}

/** Runs the tests of a file. @param file from the root */
export async function runPytest(file: string): Promise<Results> {
  const words = ['-q', '-rA', '--tb=short', '-p', 'no:cacheprovider', file]
  const child = Bun.spawn([program, ...words], {
    cwd: root,
    env: { ...environmentAbroad(), PYTHONDONTWRITEBYTECODE: '1' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  const lines = stdout.matchAll(/^([A-Z]+) [^ ]+::(\w+)/gm)
  const outcomes = new Map(
    [...lines].map(([, outcome = '', name = '']) => [name, outcome.toLowerCase()]),
  )
  return { outcomes, output: stdout + stderr }
}

/** Returns `test_a_b` for `a b`; drops commas. */
export const pytestName = (name: string): string => `test_${name.replaceAll(/[, ]+/g, '_')}`
