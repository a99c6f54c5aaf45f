/**
 * Names of applications by their ids, asked once in a sitting by a key that may read them: the
 * first, else the second. They are asked anew for one that was made since.
 * @module
 */
import { signal } from '@preact/signals'
import type { Application, ApplicationList } from '../../client/interface.ts'
import { namedApplicationsMax } from './limits.ts'
import { logKeyInUse, may, onLock, owner, permissionsOf } from './sitting.ts'
import { ask, withQueryOf } from './vault.ts'

const applicationNames = signal<ReadonlyMap<string, string> | undefined>(undefined)
let learning: { readonly logKey: string | undefined; readonly done: Promise<void> } | undefined
onLock(() => {
  applicationNames.value = undefined
  learning = undefined
})

const isId = (text: string): boolean => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)

/** Any key may ask what it holds itself: so none is refused, which the audit log would tell. */
async function logKeyMay(permission: string): Promise<boolean> {
  if (logKeyInUse() === undefined) return false
  const told = await ask<Application>({ path: '/applications/key', isByLogKey: true })
  return told.refusal === undefined && permissionsOf(told.value).has(permission)
}

async function learn(): Promise<void> {
  const isByLogKey = !may('application:read')
  if (isByLogKey && !(await logKeyMay('application:read'))) return
  const path = withQueryOf('/applications', { page: 1, size: namedApplicationsMax })
  const told = await ask<ApplicationList>({ path, isByLogKey })
  if (told.refusal !== undefined) return
  // A name that looks like an id would be taken for the application of that id.
  const named = told.value.data.filter(({ name }) => !isId(name))
  applicationNames.value = new Map(named.map(({ id, name }) => [id, name]))
}

/** Learns the newest; the others stay ids. A second key that is typed later may know more. */
export async function learnNames(): Promise<void> {
  const logKey = logKeyInUse()
  if (learning === undefined || learning.logKey !== logKey) learning = { logKey, done: learn() }
  await learning.done
}

/** Has them learned anew by what shows or finds one next; those known stay until then. */
export function forgetLearning(): void {
  learning = undefined
}

/** Each key knows the name of its own application. */
export function nameOf(id: string): string | undefined {
  const { id: ownId, name = '' } = owner.value ?? {}
  return applicationNames.value?.get(id) ?? (id === ownId && !isId(name) ? name : undefined)
}

export type FoundId =
  { readonly id: string; readonly fault?: never } | { readonly fault: string; readonly id?: never }

const idsNamed = (text: string): readonly string[] =>
  [...(applicationNames.value ?? [])]
    .filter(([, name]) => name.toLowerCase() === text.toLowerCase())
    .map(([id]) => id)

/** Finds the application that a person means by its name or its id. */
export async function idOfNamed(text: string): Promise<FoundId> {
  if (text === '' || isId(text)) return { id: text }
  await learnNames()
  if (idsNamed(text).length === 0) {
    forgetLearning()
    await learnNames()
  }
  const [found, second] = idsNamed(text)
  if (found === undefined) {
    return {
      fault: 'This key can look up no application of exactly this name: give it whole, or the id.',
    }
  }
  if (second === undefined) return { id: found }
  return { fault: 'Several applications have this name: give the id of one.' }
}
