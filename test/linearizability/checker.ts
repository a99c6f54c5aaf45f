/**
 * The checker of linearizability, Porcupine behind the models in `checker/`, as a program in Go.
 * @module
 */
import { join } from 'node:path'
import type { Kind } from './kinds.ts'

const source = join(import.meta.dir, 'checker')

/** Its own module, as pinned, with the Go that is there. */
const environment = {
  ...process.env,
  GOFLAGS: '-mod=readonly',
  GOTOOLCHAIN: 'local',
  GOWORK: 'off',
  CGO_ENABLED: '0',
}

export interface Verdict {
  readonly operations: number
  readonly open: number
  readonly parts: number
  /** Parts that no order of their operations explains. */
  readonly violations: readonly string[]
  /** Parts that took too long to judge. */
  readonly unknown: readonly string[]
}

async function runIn(folder: string, command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: environment,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

export const hasGo = (): boolean => Bun.which('go') !== null

/** Runs the tests of the models, then builds. @returns the path of the program */
export async function buildChecker(folder: string): Promise<string> {
  const program = join(folder, 'checker')
  await runIn(source, ['go', 'test', '-count=1', './...'])
  await runIn(source, ['go', 'build', '-o', program, '.'])
  return program
}

/** @throws Error when it cannot read the history */
export const judge = async (program: string, kind: Kind, path: string): Promise<Verdict> =>
  JSON.parse(await runIn(source, [program, kind, path])) as Verdict
