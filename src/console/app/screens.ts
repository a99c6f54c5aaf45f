/**
 * The screens by name, and the permissions that open each.
 * @module
 */
import { go, isPlaceOpen, place, type Place } from './place.ts'
import { may } from './sitting.ts'

export interface Link {
  readonly to: Place
  readonly name: string
  /** Places below it. */
  readonly within: readonly Place[]
  /** Permissions, of which one is enough. */
  readonly by: readonly string[]
}

const links: readonly Link[] = [
  { to: 'overview', name: 'Overview', within: [], by: ['status:read'] },
  { to: 'tokens', name: 'Tokens', within: ['token'], by: ['token:read', 'token:search'] },
  { to: 'log', name: 'Log', within: [], by: ['log:read'] },
  { to: 'applications', name: 'Applications', within: ['application'], by: ['application:read'] },
  { to: 'sessions', name: 'Sessions', within: [], by: ['session:read'] },
  { to: 'webhooks', name: 'Webhooks', within: [], by: ['webhook:read'] },
  { to: 'expressions', name: 'Expressions', within: [], by: ['expression:preview'] },
  { to: 'settings', name: 'Settings', within: [], by: ['status:read'] },
]

const isOpen = ({ by }: Link): boolean => by.some(may)

/** Screens that the key opens, and the others. */
export const openLinks = (): readonly Link[] => links.filter(isOpen)
export const closedLinks = (): readonly Link[] => links.filter(link => !isOpen(link))

/**
 * Goes to the screen that the address names, if the key opens it, else to the first that it opens.
 * A page of one thing has nothing to show after a lock: its list takes its place.
 */
export function goFirst(): void {
  const open = openLinks()
  const here = open.find(({ to, within }) => [to, ...within].includes(place.value))
  const link = isPlaceOpen() ? open[0] : (here ?? open[0])
  go(link?.to ?? 'tokens')
}
