/**
 * Places within the page: a name behind `#/`, and never an id, a value or a query, so that history
 * and address hold nothing of the vault. What a place shows is kept in memory beside it.
 * @module
 */
import { signal } from '@preact/signals'
import { askAnew } from './asked.ts'
import { onLock } from './sitting.ts'

const places = [
  'overview',
  'tokens',
  'token',
  'log',
  'applications',
  'application',
  'sessions',
  'webhooks',
  'settings',
  'expressions',
] as const
export type Place = (typeof places)[number]

/** True if the address names none: the key then decides. */
export const isPlaceOpen = (): boolean => location.hash === ''

const placeIn = (hash: string): Place => {
  const name = hash.replace(/^#\//, '')
  return places.find(place => place === name) ?? 'tokens'
}

export const place = signal<Place>(placeIn(location.hash))
/** Id of the token that its page shows. */
export const chosenToken = signal<string | undefined>(undefined)
/** Id of the application that its page shows. */
export const chosenApplication = signal<string | undefined>(undefined)

addEventListener('hashchange', () => {
  place.value = placeIn(location.hash)
})
/** Takes back each step that was taken within a place, newest last. */
const undoings: (() => void)[] = []

addEventListener('popstate', ({ state }) => {
  const depth = typeof state === 'number' ? state : 0
  for (const undo of undoings.splice(depth).toReversed()) undo()
  // The way forward takes no step again, so that nothing stands to be taken back there.
  if (depth > undoings.length) history.replaceState(undoings.length, '')
})
onLock(() => {
  undoings.length = 0
  chosenToken.value = undefined
  chosenApplication.value = undefined
})

/**
 * Changes the address, which leads there, or shows anew what is there. The history has a number of
 * steps beside it.
 */
export function go(to: Place): void {
  const address = `#/${to}`
  if (location.hash !== address) history.pushState(undoings.length, '', address)
  else if (place.value === to) askAnew()
  place.value = to
}

/** Tells of a step within a place. @param undo is called when the person goes back over it */
export function stepped(undo: () => void): void {
  undoings.push(undo)
  history.pushState(undoings.length, '')
}

export function openToken(id: string): void {
  chosenToken.value = id
  go('token')
}

export function openApplication(id: string): void {
  chosenApplication.value = id
  go('application')
}
