/**
 * Computes the id of a build from the sources of the binary in this checkout: independent of the
 * time, the place and the kind of machine. `bun scripts/build-id.ts` prints it.
 * @module
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Sources of the program and of its build. */
const sources = [
  'package.json',
  'bun.lock',
  'scripts/binary.ts',
  'scripts/embed-frame.ts',
  'scripts/embed-natives.ts',
  'src',
]
const hexDigits = 12

function filesIn(root: string, path: string): readonly string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path]
  return readdirSync(join(root, path)).flatMap(name => filesIn(root, `${path}/${name}`))
}

/** @param root of the checkout */
export function buildIdOf(root: string): string {
  const digest = createHash('sha256')
  for (const path of sources.flatMap(each => filesIn(root, each)).toSorted()) {
    const bytes = readFileSync(join(root, path))
    digest.update(`${path}\0${bytes.length}\0`).update(bytes)
  }
  return digest.digest('hex').slice(0, hexDigits)
}

/** In the form that the bundler takes. */
export const buildDefinition = (root: string) => ({
  COFFER_BUILD: JSON.stringify(buildIdOf(root)),
})

if (import.meta.main) console.log(buildIdOf(resolve(import.meta.dir, '..')))
