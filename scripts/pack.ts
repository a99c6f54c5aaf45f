/**
 * `npm run pack`: the npm packages as archives in `dist`, as `npm publish` takes them, and unpacked
 * in `dist/npm`. Prints what each is, its size and how to install it.
 *
 * The packages of the client and of the card fields have no dependencies. The vault's package has
 * both, with its command line, the plugin and the test support; it runs on Bun, which the command
 * finds by itself.
 * @module
 */
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writeBundle } from './pack/bundle.ts'
import { writeLicences } from './pack/licences.ts'
import {
  archiveOf,
  dependencies,
  manifestOf,
  packages,
  tellPackage,
  type Package,
} from './pack/packages.ts'
import { writeTypes } from './pack/types.ts'

const root = resolve(import.meta.dir, '..')
const dist = join(root, 'dist')

async function run(command: readonly string[], cwd: string): Promise<void> {
  const child = Bun.spawn([...command], {
    cwd,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'inherit',
  })
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed`)
}

/** Returns the size of all files below a folder, in bytes. */
function bytesBelow(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

async function make(made: Package): Promise<void> {
  const { name, bytesMax, bundles, types, copies } = made
  const folder = join(dist, 'npm', name)
  mkdirSync(folder, { recursive: true })
  const external = Object.keys(dependencies).flatMap(each => [each, `${each}/*`])
  const used: string[] = []
  for (const bundle of bundles) {
    used.push(...(await writeBundle({ root, folder, external }, bundle)))
  }
  writeLicences(folder, used)
  writeTypes(root, folder, types)
  for (const [to, from] of Object.entries(copies)) {
    cpSync(join(root, 'scripts', 'pack', from), join(folder, to))
  }
  const manifest = `${JSON.stringify(manifestOf(made))}\n`
  writeFileSync(join(folder, 'package.json'), manifest)
  const bytes = bytesBelow(folder)
  if (bytes > bytesMax) throw new Error(`${name} has ${bytes} bytes, and ${bytesMax} at most`)
  await run(['npm', 'pack', '--silent', '--pack-destination', dist], folder)
  const archive = archiveOf(name)
  const packed = statSync(join(dist, archive)).size
  console.log(tellPackage(made, { packed, unpacked: bytes }))
}

rmSync(join(dist, 'npm'), { recursive: true, force: true })
console.log('Packages of npm: unpacked in dist/npm, and as archives to install or publish in dist.')
for (const each of packages) await make(each)
