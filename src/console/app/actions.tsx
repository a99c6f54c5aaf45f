/**
 * Buttons that change something: each says what is under way, what was refused and what was done.
 * @module
 */
import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { Refused } from './notices.tsx'
import { ask, type Question, type Refusal } from './vault.ts'

interface ActionProps<T> {
  readonly label: string
  /** Said to those who do not see what is beside the button. */
  readonly name?: string
  readonly question: Question
  readonly onDone: (value: T) => void
  /** Called in place of a refusal if what it is about is no longer there. */
  readonly onGone?: () => void
  /** Asked for once more before it happens: the text of the button, and what it will do. */
  readonly confirm?: string
  readonly effect?: string
  readonly disabled?: boolean
  readonly isLarge?: boolean
  /** True for the button of a form, which Enter in a field presses, once its fields are as told. */
  readonly isSubmit?: boolean
}

type ActionState = 'ready' | 'asked' | 'busy'

export function Action<T>(props: ActionProps<T>) {
  const { label, name, question, onDone, confirm, effect, disabled = false, isLarge } = props
  const { isSubmit = false, onGone } = props
  const state = useSignal<ActionState>('ready')
  const refusal = useSignal<Refusal | undefined>(undefined)
  const id = useId()
  const run = async (detail: number, button: HTMLButtonElement): Promise<void> => {
    // It is not disabled meanwhile: that would take the focus away from it. The second click of a
    // double one confirms nothing.
    if (state.value === 'busy' || detail > 1) return
    // The browser says which field lacks what.
    if (isSubmit && button.form?.checkValidity() === false) return
    if (confirm !== undefined && state.value === 'ready') {
      state.value = 'asked'
      // After Enter in a field: the button takes back its question once it is left.
      button.focus()
      return
    }
    state.value = 'busy'
    refusal.value = undefined
    const told = await ask<T>(question)
    state.value = 'ready'
    if (told.refusal === undefined) onDone(told.value)
    else if (told.refusal.status === 404 && onGone !== undefined) onGone()
    else refusal.value = told.refusal
  }
  const takeBack = (): void => {
    if (state.value === 'asked') state.value = 'ready'
  }
  const isAsked = state.value === 'asked'
  const text = isAsked ? confirm : state.value === 'busy' ? `${label}…` : label
  return (
    <>
      <span class="action">
        <button
          type={isSubmit ? 'submit' : 'button'}
          class={`${isAsked ? 'danger' : ''} ${isLarge === true ? '' : 'small'}`}
          aria-describedby={isAsked && effect !== undefined ? id : undefined}
          aria-label={name === undefined ? undefined : `${text} ${name}`}
          disabled={disabled}
          aria-disabled={state.value === 'busy'}
          onClick={({ detail, currentTarget }) => void run(detail, currentTarget)}
          onBlur={takeBack}
          onKeyDown={({ key }) => {
            if (key === 'Escape') takeBack()
          }}
        >
          {text}
        </button>
        {confirm !== undefined && (
          <span class={`room ${isLarge === true ? '' : 'small'}`} aria-hidden="true">
            {confirm}
          </span>
        )}
        {isAsked && effect !== undefined && (
          <p id={id} class="effect">
            {effect}
          </p>
        )}
      </span>
      {refusal.value !== undefined && <Refused refusal={refusal.value} />}
    </>
  )
}
