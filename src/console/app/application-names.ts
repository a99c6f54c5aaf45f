/**
 * Names of applications by their ids, asked once in a sitting by a key that may read them.
 * @module
 */
import { signal } from '@preact/signals'
import type { ApplicationList } from '../../client/interface.ts'
import { namedApplicationsMax } from './limits.ts'
import { may, onLock } from './sitting.ts'
import { ask, withQueryOf } from './vault.ts'

export const applicationNames = signal<ReadonlyMap<string, string> | undefined>(undefined)
onLock(() => {
  applicationNames.value = undefined
})

/** Learns the newest; the others stay ids. */
export async function learnNames(): Promise<void> {
  if (applicationNames.value !== undefined || !may('application:read')) return
  applicationNames.value = new Map()
  const path = withQueryOf('/applications', { page: 1, size: namedApplicationsMax })
  const told = await ask<ApplicationList>({ path })
  if (told.refusal !== undefined || applicationNames.value === undefined) return
  applicationNames.value = new Map(told.value.data.map(({ id, name }) => [id, name]))
}
