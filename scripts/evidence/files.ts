/**
 * Files of the project from which the evidence pages are made.
 * @module
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { documents, type Files } from './tables.ts'

const root = resolve(import.meta.dirname, '../..')

const read = (path: string): string => readFileSync(resolve(root, path), 'utf8')

export function readEvidenceFiles(): Files {
  const tests = [...new Bun.Glob('test/**/*.test.ts').scanSync({ cwd: root })]
  const texts = documents.flatMap(each => each.files)
  return new Map([...texts, ...tests].map(path => [path, read(path)]))
}
