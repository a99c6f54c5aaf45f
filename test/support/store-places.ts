/**
 * Places of a store that several processes can share: a folder, and PostgreSQL where it is
 * installed.
 * @module
 */
import { isPostgresThere, nextSchema, sharedPostgres } from './postgres.ts'

/** By their names: makes a place, and tells the words of `init` for it. */
export const storePlaces: readonly (readonly [string, () => Promise<readonly string[]>])[] = [
  ['a folder', () => Promise.resolve([])],
  ...(isPostgresThere
    ? [['PostgreSQL', async () => ['--store', (await sharedPostgres()).url(nextSchema())]] as const]
    : []),
]
