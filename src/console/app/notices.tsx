/**
 * States of a screen that shows no data: nothing there, under way, refused.
 * @module
 */
import type { ComponentChildren } from 'preact'
import { owner } from './sitting.ts'
import type { AnswerState } from './asked.ts'
import type { Refusal } from './vault.ts'

const Loading = ({ what }: { readonly what: string }) => (
  <p class="notice loading" role="status">
    <span class="spinner" aria-hidden="true" /> Loading {what}…
  </p>
)

interface EmptyProps {
  readonly title: string
  readonly children?: ComponentChildren
}

export const Empty = ({ title, children }: EmptyProps) => (
  <div class="notice empty" role="status">
    <p class="title">{title}</p>
    {children}
  </div>
)

/** Type of the keys that can hold what a screen asks for. */
const holderOf = (permission: string): string =>
  permission.startsWith('token:') ? 'private' : 'management'

function Missing({ permission }: { readonly permission: string }) {
  const holder = holderOf(permission)
  return (
    <div class="notice refused" role="alert">
      <p class="title">
        This key lacks <code>{permission}</code>
      </p>
      {owner.value?.type === holder ? (
        <p>Lock the console, and use a key that holds this permission.</p>
      ) : (
        <p>
          No {owner.value?.type} key can hold it. Lock the console, and use one of a {holder}{' '}
          application; a manager makes one under Applications.
        </p>
      )}
    </div>
  )
}

interface RefusedProps {
  readonly refusal: Refusal
  readonly again?: () => void
}

export function Refused({ refusal: { status, text, missing }, again }: RefusedProps) {
  if (missing !== undefined) return <Missing permission={missing} />
  return (
    <div class="notice failed" role="alert">
      <p class="title">{status === 0 ? 'No answer' : `Refused with ${status}`}</p>
      <p>
        <bdi>{text}</bdi>
      </p>
      {/* What is wrong with a request stays so. */}
      {again !== undefined && status !== 400 && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}

interface GivenProps {
  readonly isStale: boolean
  readonly children: ComponentChildren
}

/** One element for both, so that what is within keeps its state. */
const Given = ({ isStale, children }: GivenProps) => (
  <div class={isStale ? 'given stale' : 'given'} aria-busy={isStale}>
    {children}
  </div>
)

interface AnswerProps<T> {
  readonly asked: AnswerState<T>
  readonly what: string
  readonly again?: () => void
  readonly children: (value: T) => ComponentChildren
}

/** Shows an answer, or why there is none; the one before stays while the next is under way. */
export function Answer<T>({ asked, what, again, children }: AnswerProps<T>) {
  switch (asked.state) {
    case 'nothing':
      return null
    case 'refused':
      return <Refused refusal={asked.refusal} {...(again === undefined ? {} : { again })} />
    case 'loading':
      if (asked.before === undefined) return <Loading what={what} />
      return <Given isStale={true}>{children(asked.before)}</Given>
    case 'answered':
      return <Given isStale={false}>{children(asked.value)}</Given>
  }
}
