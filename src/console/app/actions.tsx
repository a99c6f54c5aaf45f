/**
 * Buttons that change something: each says what is under way, what was refused and what was done.
 * @module
 */
import { useSignal } from '@preact/signals'
import { Refused } from './notices.tsx'
import { ask, type Question, type Refusal } from './vault.ts'

interface ActionProps<T> {
  readonly label: string
  /** Said to those who do not see what is beside the button. */
  readonly name?: string
  readonly question: Question
  readonly onDone: (value: T) => void
  /** Asked for once more before it happens. */
  readonly confirm?: string
  readonly disabled?: boolean
  readonly isLarge?: boolean
}

type ActionState = 'ready' | 'asked' | 'busy'

export function Action<T>(props: ActionProps<T>) {
  const { label, name, question, onDone, confirm, disabled = false, isLarge = false } = props
  const state = useSignal<ActionState>('ready')
  const refusal = useSignal<Refusal | undefined>(undefined)
  const run = async (): Promise<void> => {
    // It is not disabled meanwhile: that would take the focus away from it.
    if (state.value === 'busy') return
    if (confirm !== undefined && state.value === 'ready') {
      state.value = 'asked'
      return
    }
    state.value = 'busy'
    refusal.value = undefined
    const told = await ask<T>(question)
    state.value = 'ready'
    if (told.refusal === undefined) onDone(told.value)
    else refusal.value = told.refusal
  }
  const isAsked = state.value === 'asked'
  const text = isAsked ? confirm : state.value === 'busy' ? `${label}…` : label
  return (
    <>
      <button
        type="button"
        class={isAsked ? 'danger' : isLarge ? '' : 'small'}
        aria-label={name === undefined ? undefined : `${text} ${name}`}
        disabled={disabled}
        aria-disabled={state.value === 'busy'}
        onClick={() => void run()}
        onBlur={() => {
          if (state.value === 'asked') state.value = 'ready'
        }}
      >
        {text}
      </button>
      {refusal.value !== undefined && <Refused refusal={refusal.value} />}
    </>
  )
}
