/**
 * The page of the architecture names files and folders of this very tree, and leaves none out.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/architecture.md',
  'docs/decisions.md',
  'docs/embedding.md',
]

/** Files and folders that a page names in code or links to, and in its picture. */
function namedIn(page: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8')
  const named = text.matchAll(
    /[`"> (]((?:[a-z][a-z-]*\/)*[a-z][a-z-]*(?:\.test)?\.(?:ts|md)|(?:[a-z-]+\/)+)(?=[`,<) ])/g,
  )
  return [...new Set([...named].map(([, path]) => path ?? ''))]
}

const places = [
  '',
  'src',
  'src/cli',
  'src/limits',
  'src/settings',
  'src/tokens',
  'src/tokens/write',
  'src/store/lmdb',
  'src/store/lmdb/write',
]

/** In a list of one folder's files only the first is named with its folder. */
const isThere = (path: string): boolean =>
  places.some(place => existsSync(join(root, place, path))) || existsSync(join(root, 'docs', path))

describe.each(pages)('%s', page => {
  test('names files and folders that are there', () => {
    const named = namedIn(page)
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter(path => !isThere(path))).toEqual([])
  })
})

test('docs/architecture.md names every folder of the source, two levels deep', () => {
  const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
  const folders = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(({ parentPath, name }) => relative(join(root, 'src'), join(parentPath, name)))
    .filter(folder => folder.split('/').length <= 2)
  expect(folders).toContain('store/core')
  expect(folders.filter(folder => !text.includes(`${folder}/`))).toEqual([])
})
