/**
 * Public test vectors, which lie beside the checkout: `<checkout>/../shared/vectors`.
 *
 * A clone alone does not have them: its tests of vectors are skipped, with a message. If `CI` is
 * set they must exist.
 * @module
 */
import { describe } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const vectorsFolder = fileURLToPath(new URL('../../../shared/vectors/', import.meta.url))

const absent = !existsSync(vectorsFolder) && process.env['CI'] === undefined

/** `describe`, skipped with its reason in the name if the vectors are absent. */
export const describeVectors = (name: string, body: () => void): void => {
  if (absent) describe.skip(`${name} (skipped: no shared/vectors beside the checkout)`, () => {})
  else describe(name, body)
}

/** @returns the bytes of every file of the suite, ordered by name */
export const readVectors = (suite: string): readonly (readonly [string, Uint8Array])[] => {
  const folder = `${vectorsFolder}${suite}/`
  return readdirSync(folder)
    .sort()
    .map(name => [name, new Uint8Array(readFileSync(folder + name))])
}
