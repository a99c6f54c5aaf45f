/**
 * Licences of the packages that are bundled in ours, as they require.
 * @module
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../release/sbom.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
}

const read = (...names: readonly string[]): string => readFileSync(join(...names), 'utf8').trim()

function licenceOf(folder: string): string {
  const { name, version, license = '' } = JSON.parse(read(folder, 'package.json')) as Manifest
  const files = readdirSync(folder).filter(file => /^(?:licen[cs]e|notice)(?:\.\w+)?$/i.test(file))
  const texts = files.map(file => read(folder, file))
  return [`${name} ${version}: ${license}`, ...texts].join('\n\n')
}

/**
 * Writes nothing if no other package is bundled.
 * @param files absolute paths of all bundled files
 */
export function writeLicences(folder: string, files: readonly string[]): void {
  const folders = new Set(files.flatMap(file => packageFolder(file) ?? []))
  if (folders.size === 0) return
  const texts = [...folders].toSorted().map(licenceOf)
  writeFileSync(join(folder, 'licences.txt'), `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
}
