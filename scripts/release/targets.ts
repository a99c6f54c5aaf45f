/**
 * Platforms of released binaries, and the parts that this machine lacks for each: the addons and
 * its Bun, from npm, exactly as `bun.lock` pins them.
 *
 * Linux means glibc: sodium-native has no build for musl. Source: its folder `prebuilds`.
 * @module
 */
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Target } from '../embed-natives.ts'

export interface ReleaseTarget extends Target {
  readonly name: string
  /** The package that holds the Bun of that platform. */
  readonly runtime: string
}

export const releaseTargets: readonly ReleaseTarget[] = [
  { name: 'linux-x64', platform: 'linux', arch: 'x64', runtime: '@oven/bun-linux-x64' },
  { name: 'linux-arm64', platform: 'linux', arch: 'arm64', runtime: '@oven/bun-linux-aarch64' },
  { name: 'darwin-x64', platform: 'darwin', arch: 'x64', runtime: '@oven/bun-darwin-x64' },
  { name: 'darwin-arm64', platform: 'darwin', arch: 'arm64', runtime: '@oven/bun-darwin-aarch64' },
]

/**
 * Always uses the same place below the checkout: the binary's source map contains the path.
 * @returns the `node_modules` of that kind of machine
 * @throws Error when Bun cannot install it, after Bun's own message
 */
export function fetchModules(root: string, { name, platform, arch }: ReleaseTarget): string {
  const folder = join(root, 'dist', 'targets', name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const file of ['package.json', 'bun.lock'])
    copyFileSync(join(root, file), join(folder, file))
  const words = ['install', '--frozen-lockfile', '--ignore-scripts', '--no-progress', '--silent']
  const kind = ['--os', platform, '--cpu', arch]
  const { exitCode } = Bun.spawnSync([process.execPath, ...words, ...kind], {
    cwd: folder,
    stdout: 'ignore',
    stderr: 'inherit',
  })
  if (exitCode !== 0) throw new Error(`cannot install what ${name} needs`)
  return join(folder, 'node_modules')
}
