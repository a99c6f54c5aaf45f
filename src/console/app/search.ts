/**
 * The search of the screen of tokens, kept while one of them is looked at.
 * @module
 */
import { signal } from '@preact/signals'
import { onLock } from './sitting.ts'

/** Text of the field. */
export const typed = signal('')
/** Query of the list; empty for all tokens. */
export const searched = signal('')
/** Cursors of the stretches before, newest last. */
export const starts = signal<readonly string[]>([''])

export function find(query: string): void {
  typed.value = query.trim()
  searched.value = typed.value
  starts.value = ['']
}

onLock(() => find(''))
