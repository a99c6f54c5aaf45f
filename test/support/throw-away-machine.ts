/**
 * This machine with an empty layer above its disk, in a mount namespace: everything that a script
 * installs and writes there disappears with the layer. For root on Linux.
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './folders.ts'

const layering = `set -e
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/merged"
mount -t proc proc "$1/merged/proc"
mount --rbind /dev "$1/merged/dev"
exec chroot "$1/merged" /bin/sh -eu /script
`

const run = (folder: string) =>
  Bun.spawnSync(['unshare', '--mount', '--pid', '--fork', 'sh', '-c', layering, 'layering', folder])

/** Makes the layer and runs a `sh` script there, which stops at its first failed command. */
export function runOnThrowAwayMachine(script: string) {
  const folder = temporaryFolder()
  for (const name of ['upper', 'work', 'merged']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'upper', 'script'), script)
  const { exitCode, stdout, stderr } = run(folder)
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
}

/** Root in a container of its own may often not mount. */
export const hasThrowAwayMachine =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  runOnThrowAwayMachine('true').exitCode === 0
