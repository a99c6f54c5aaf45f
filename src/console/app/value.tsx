/**
 * Values of the vault on the page: always text, apart from the direction of what is around it, and
 * cut where it is long.
 * @module
 */
import { useSignal } from '@preact/signals'
import { Fragment, type ComponentChildren } from 'preact'
import {
  marksMax,
  previewCharsMax,
  shownCharsFirst,
  shownCharsMore,
  shownItemsFirst,
  shownItemsMore,
} from './limits.ts'
import { printValue } from './exact-json.ts'

/** Characters that turn the direction of text, are not seen, or look like a blank. */
const unseen = /(?![\n\t \u3000])[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu
/** Marks beyond those that scripts write would widen a row, or cover the one above. */
const piled = new RegExp(`(?<=\\p{M}{${marksMax}})\\p{M}`, 'gu')
/** Blanks and ends of lines that a line swallows. */
const swallowed = /^ |(?<= ) | $|[\n\t]/g

const nameOf = (character: string): string =>
  `⟨${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`

/** Shows such characters by their code points, so that texts that differ by them look different. */
export const seen = (text: string): string => text.replace(piled, nameOf).replace(unseen, nameOf)

const seenInLine = (text: string): string => seen(text).replace(swallowed, nameOf)

/** Cuts between characters. */
const cut = (text: string, most: number): string => {
  const head = text.slice(0, most)
  return /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head
}

/** A short text within a line. */
export const Text = ({ of }: { readonly of: string }) => (
  <bdi class="text">
    {seenInLine(cut(of, previewCharsMax) + (of.length > previewCharsMax ? '…' : ''))}
  </bdi>
)

/** A container, which a line ends behind a step of it. */
export const Path = ({ of }: { readonly of: string }) => (
  <bdi class="text">
    {seen(cut(of, previewCharsMax))
      .split(/(?<=\/)/)
      .map((step, index) => (
        <Fragment key={index}>
          {step}
          <wbr />
        </Fragment>
      ))}
    {of.length > previewCharsMax && '…'}
  </bdi>
)

/** Why somebody asked, whole: it is short. */
export const StatedReason = ({ of }: { readonly of: string }) => (
  <div class="reason">
    Reason: <bdi>{seenInLine(of)}</bdi>
  </div>
)

/** An id, whole and to be copied. */
export const Id = ({ of }: { readonly of: string }) => (
  <bdi class="id">{seenInLine(cut(of, shownCharsFirst))}</bdi>
)

export function Value({ of }: { readonly of: unknown }) {
  const most = useSignal(shownCharsFirst)
  const text = printValue(of)
  const left = text.length - most.value
  return (
    <div class="value">
      <pre tabIndex={0} aria-label="Value">
        <bdi>{seen(cut(text, most.value))}</bdi>
      </pre>
      {left > 0 && (
        <button
          type="button"
          onClick={() => {
            most.value += shownCharsMore
          }}
        >
          Show more ({left.toLocaleString('en')} characters left)
        </button>
      )}
    </div>
  )
}

interface ItemsProps<T> {
  readonly of: readonly T[]
  readonly show: (item: T) => ComponentChildren
}

/** A list that begins short. */
export function Items<T>({ of, show }: ItemsProps<T>) {
  const most = useSignal(shownItemsFirst)
  const left = of.length - most.value
  return (
    <>
      <ul class="items">
        {of.slice(0, most.value).map((item, index) => (
          <li key={index}>{show(item)}</li>
        ))}
      </ul>
      {left > 0 && (
        <button
          type="button"
          onClick={() => {
            most.value += shownItemsMore
          }}
        >
          Show more ({left.toLocaleString('en')} left)
        </button>
      )}
    </>
  )
}
