/**
 * The heart: the files in which a wrong condition shows a secret or loses one, and the tests that
 * hold them. Both scripts, coverage and mutation, take them from here.
 *
 * Unit tests alone: they draw nothing at random, so that each run gives the same answer.
 * @module
 */
import { globSync } from 'node:fs'
import { resolve } from 'node:path'

export const root = resolve(import.meta.dir, '..', '..')

const find = (pattern: string): readonly string[] => globSync(pattern, { cwd: root }).toSorted()

const domain = (...names: readonly string[]): readonly string[] =>
  names.map(name => `src/domain/${name}.ts`)

/** Paths from the root. */
export const heartFiles: readonly string[] = [
  ...domain('access', 'caller', 'containers', 'faults', 'grant-limit', 'grants', 'permissions'),
  ...find('src/crypto/*.ts'),
  ...find('src/domain/expression/**/*.ts'),
  ...domain('merge-patch'),
  ...domain('digits', 'hidden-digits', 'mask', 'mask-guard', 'mask-outputs', 'moves'),
  ...domain('number-places', 'pan-guard'),
]

export const heartTests: readonly string[] = find(
  'test/unit/{crypto,domain,sessions,tokens}/**/*.test.ts',
)
