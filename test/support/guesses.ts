/**
 * A vault that allows six guesses of each kind per minute.
 * @module
 */
import type { Settings } from '../../src/settings/settings.ts'
import { tokenPermissions } from './sessions.ts'
import { openTestVault, type Answer, type TestVault } from './vault.ts'

export const small: Partial<Settings> = {
  searchGuessesPerMinuteMax: 6,
  createGuessesPerMinuteMax: 6,
  lookupGuessesPerMinuteMax: 6,
}

export const ruleOf = (transform: string, container = '/') => [
  { priority: 1, container, transform, permissions: tokenPermissions },
]

export const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status)

export const spentLines = (vault: TestVault) =>
  vault.logged.filter(line => line.includes('guesses_spent'))

export async function times<T>(count: number, task: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let index = 0; index < count; index += 1) results.push(await task(index))
  return results
}

export async function openWorld(seed: number, grants: object, settings = small) {
  const vault = await openTestVault(seed, settings)
  const key = await vault.application({ type: 'private', ...grants })
  const search = (query: string, by = key) =>
    vault.ask('POST', '/tokens/search', { key: by, body: { query } })
  const create = (body: object, by = key) =>
    vault.ask('POST', '/tokens', { key: by, body: { type: 'token', ...body } })
  return { vault, key, search, create }
}
