/**
 * Places within the page: a name behind `#/`, and never an id, a value or a query, so that history
 * and address hold nothing of the vault. What a place shows is kept in memory beside it.
 * @module
 */
import { signal } from '@preact/signals'
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
onLock(() => {
  chosenToken.value = undefined
  chosenApplication.value = undefined
})

/** Changes the address, which leads there. */
export function go(to: Place): void {
  location.hash = `#/${to}`
  place.value = to
}

export function openToken(id: string): void {
  chosenToken.value = id
  go('token')
}

export function openApplication(id: string): void {
  chosenApplication.value = id
  go('application')
}
