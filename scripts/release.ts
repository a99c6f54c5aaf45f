/**
 * `bun run release [TARGET ...]`: makes a binary for each kind of machine in `dist/release`, with
 * its contents as CycloneDX, and `SHA256SUMS` of all of them. Without names: for every kind.
 *
 * Equal sources give equal bytes for everyone, wherever they lie.
 * @module
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { version } from '../package.json' with { type: 'json' }
import { makeBinary } from './binary.ts'
import { printSbom } from './release/sbom.ts'
import { fetchModules, releaseTargets, type ReleaseTarget } from './release/targets.ts'

const root = resolve(import.meta.dir, '..')
const folder = join(root, 'dist', 'release')

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

function chosenTargets(names: readonly string[]): readonly ReleaseTarget[] {
  const chosen = releaseTargets.filter(({ name }) => names.length === 0 || names.includes(name))
  const unknown = names.find(name => !chosen.some(target => target.name === name))
  if (unknown === undefined) return chosen
  const known = releaseTargets.map(({ name }) => name).join(', ')
  console.error(`release: expected some of ${known}`)
  return process.exit(2)
}

/** @returns names of the files that were made, and their hashes in hexadecimal */
async function release(target: ReleaseTarget): Promise<readonly (readonly [string, string])[]> {
  const modules = fetchModules(root, target)
  const runtime = join(modules, target.runtime, 'bin', 'bun')
  // The name of the file is part of its bytes: every target has the installed name.
  const outfile = join(folder, 'coffer')
  const bundled = await makeBinary({ root, modules, target, runtime, outfile })
  const name = `coffer-${version}-${target.name}`
  renameSync(outfile, join(folder, name))
  const sha256 = sha256Of(readFileSync(join(folder, name)))
  const files = [...bundled, relative(root, runtime)]
  const sbom = printSbom({ root, files, version, name, sha256 })
  writeFileSync(join(folder, `${name}.cdx.json`), sbom)
  console.log(`release: ${name}`)
  return [
    [name, sha256],
    [`${name}.cdx.json`, sha256Of(Buffer.from(sbom))],
  ]
}

const targets = chosenTargets(process.argv.slice(2))
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const made: (readonly [string, string])[] = []
for (const target of targets) made.push(...(await release(target)))
const lines = made.map(([name, sha256]) => `${sha256}  ${name}\n`)
writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''))
