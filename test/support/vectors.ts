/**
 * Public test vectors, which lie beside the checkout: `<checkout>/../shared/vectors`.
 *
 * A clone on its own does not have them: its tests of vectors are skipped, and say so. Where `CI`
 * is set they must be there.
 * @module
 */
import { describe } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const vectorsFolder = fileURLToPath(new URL('../../../shared/vectors/', import.meta.url))

const absent = !existsSync(vectorsFolder) && process.env['CI'] === undefined

/** `describe`, skipped with its reason in the name where the vectors are absent. */
export const describeVectors = (name: string, body: () => void): void => {
  if (absent) describe.skip(`${name} (skipped: no shared/vectors beside the checkout)`, () => {})
  else describe(name, body)
}

/** @returns the bytes of every file of the suite, in the order of their names */
export const readVectors = (suite: string): readonly (readonly [string, Uint8Array])[] => {
  const folder = `${vectorsFolder}${suite}/`
  return readdirSync(folder)
    .sort()
    .map(name => [name, new Uint8Array(readFileSync(folder + name))])
}
