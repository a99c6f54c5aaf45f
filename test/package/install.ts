/**
 * The packages as somebody gets them: installed by npm into an empty folder. They are made by
 * `npm run pack`.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { archiveOf, packages } from '../../scripts/pack/packages.ts'
import { temporaryFolder } from '../support/folders.ts'
import type { Ended } from '../support/page.ts'

export const root = resolve(import.meta.dir, '../..')
export const installMsMax = 300_000

const archivePath = (name: string): string => join(root, 'dist', archiveOf(name))

/** The name of this project's binary is no setting of a vault. */
const { COFFER_BINARY: _, ...env } = process.env

export async function runBy(
  cwd: string,
  command: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...env, ...more },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { exitCode: await child.exited, stdout, stderr }
}

interface Application {
  readonly folder: string
  /** Output of npm. */
  readonly told: string
}

/**
 * An application that has these packages.
 * @param more words for npm
 */
export async function installInto(
  names: readonly string[],
  more: readonly string[] = [],
): Promise<Application> {
  const folder = temporaryFolder()
  const manifest = { name: 'shop', private: true, type: 'module' }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const command = ['npm', 'install', '--no-audit', '--no-fund', ...more, ...names.map(archivePath)]
  const { exitCode, stdout, stderr } = await runBy(folder, command)
  if (exitCode !== 0) throw new Error(`the packages are made by npm run pack: ${stderr}`)
  return { folder, told: stdout + stderr }
}

let withAll: Promise<Application> | undefined

/** An application that has every package; one for all files of tests, since it takes a while. */
export const installAll = (): Promise<Application> =>
  (withAll ??= installInto(packages.map(({ name }) => name)))
