/**
 * A mistake in a query, told at its place.
 * @module
 */
import { searched } from './search.ts'
import { seen } from './value.tsx'

export const mistakeId = 'query-mistake'

export interface Mistake {
  /** UTF-16 units before it. */
  readonly position: number
  readonly expected: string
}

/** @param text of a refusal @returns `undefined` if it names no place */
export function mistakeIn(text: string): Mistake | undefined {
  const [, position, expected] = /^query: position (\d+): ([^]*)$/.exec(text) ?? []
  if (position === undefined || expected === undefined) return undefined
  return { position: Number(position), expected }
}

/** Selects the word there. */
function goTo(position: number): void {
  const field = document.querySelector<HTMLInputElement>('#query')
  const [word = ''] = /^[^\s()]*/.exec(field?.value.slice(position) ?? '') ?? []
  field?.focus()
  field?.setSelectionRange(position, position + word.length)
}

/** Characters that are shown before and after it. */
const around = 30

export function QueryMistake({ mistake: { position, expected } }: { readonly mistake: Mistake }) {
  const query = searched.value
  const before = query.slice(Math.max(0, position - around), position)
  const after = query.slice(position, position + around)
  return (
    <div class="notice failed mistake" role="alert">
      <p class="title" id={mistakeId}>
        Character {position + 1} of the query: <bdi>{expected}</bdi>
      </p>
      <p>
        <code>
          {position > around && '…'}
          <bdi>{seen(before)}</bdi>
          <mark>{after === '' ? '\u00a0' : <bdi>{seen(after)}</bdi>}</mark>
        </code>
        {after === '' && ' ← here, at the end'}
      </p>
      <p class="hint">
        Name the field before what you look for: <code>id:order-17</code>,{' '}
        <code>metadata.order:17</code>, <code>data:ada@example.com</code>.
      </p>
      <button type="button" onClick={() => goTo(position)}>
        Go to character {position + 1}
      </button>
    </div>
  )
}
