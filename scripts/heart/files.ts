/**
 * The heart: the files in which a wrong condition reveals a secret or loses one, and the tests that
 * protect them. Both scripts, coverage and mutation, read them from here.
 *
 * Unit tests only: they use no randomness, so that each run gives the same result.
 * @module
 */
import { globSync } from 'node:fs'
import { resolve } from 'node:path'

export const root = resolve(import.meta.dir, '..', '..')

const find = (pattern: string): readonly string[] => globSync(pattern, { cwd: root }).toSorted()

const rules = (...names: readonly string[]): readonly string[] =>
  names.map(name => `src/rules/${name}.ts`)

/** Paths from the root. */
export const heartFiles: readonly string[] = [
  ...rules('access', 'caller', 'explain', 'grants', 'permissions'),
  ...find('src/crypto/*.ts'),
  ...find('src/language/expression/**/*.ts'),
  'src/lib/bytes.ts',
  'src/lib/errors.ts',
  'src/lib/json/merge-patch.ts',
  ...rules('token-types', 'hidden-digits', 'mask', 'mask-guard', 'clear-text', 'moves'),
]

export const heartTests: readonly string[] = find(
  'test/unit/{crypto,rules,language,json,sessions,tokens,errors,bytes}{/**/*,}.test.ts',
)
