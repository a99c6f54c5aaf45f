/**
 * The search of the screen of tokens, kept while one of them is looked at. A key that may only list
 * chooses by the filters of a list.
 * @module
 */
import { signal } from '@preact/signals'
import { askAnew } from './asked.ts'
import { stepped } from './place.ts'
import { may, onLock } from './sitting.ts'

/** Text of the field. */
export const typed = signal('')
/** Query of the list; empty for all tokens. */
export const searched = signal('')
/** Cursors of the stretches before, newest last. */
export const starts = signal<readonly string[]>([''])

const noFilters = { id: '', type: '', container: '', metadata: '' }
export type ListFilters = typeof noFilters

/** Filters of the list, and the same as they are being typed. */
export const listed = signal<ListFilters>(noFilters)
export const typedFilters = signal<ListFilters>(noFilters)

export const isFiltered = (): boolean => Object.values(listed.value).some(value => value !== '')

const isEqual = (one: ListFilters, other: ListFilters): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

export function find(query: string): void {
  typed.value = query.trim()
  searched.value = typed.value
  starts.value = ['']
}

/** @param change empty for none of the filters that it leaves out */
export function list(change: Partial<ListFilters>): void {
  listed.value = { ...noFilters, ...change }
  typedFilters.value = listed.value
  starts.value = ['']
}

/** Shows other tokens, or the same anew; the way back leads to those before. */
export function showBy(change: () => void): void {
  const [query, filters, cursors] = [searched.value, listed.value, starts.value]
  change()
  const isSame = searched.value === query && isEqual(listed.value, filters)
  if (isSame) {
    askAnew()
    return
  }
  stepped(() => {
    find(query)
    list(filters)
    starts.value = cursors
  })
}

/** Shows the tokens of a container and of all below it. */
export const showContainer = (container: string): void =>
  showBy(() => (may('token:search') ? find(`container:${container}*`) : list({ container })))

onLock(() => {
  find('')
  list({})
})
