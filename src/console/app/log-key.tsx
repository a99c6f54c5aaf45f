/**
 * A second key of the sitting, which reads the log where the first may not: a key that reads tokens
 * never does.
 * @module
 */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { expectedKey, looksLikeKey } from './login.tsx'
import { holdLogKey } from './sitting.ts'

interface LogKeyProps {
  /** Why a key that was typed before has shown nothing; empty if none was. */
  readonly fault: string
  /** Called once a key is held. */
  readonly onHeld: () => void
}

export function LogKey({ fault, onHeld }: LogKeyProps) {
  const field = useRef<HTMLInputElement>(null)
  const mistake = useSignal<string | undefined>(undefined)
  useEffect(() => {
    if (fault !== '') field.current?.focus()
  }, [fault])
  const submit = (event: Event): void => {
    event.preventDefault()
    const typed = field.current?.value.trim() ?? ''
    mistake.value = looksLikeKey(typed) ? undefined : expectedKey
    if (mistake.value === undefined) {
      holdLogKey(typed)
      onHeld()
    }
    if (field.current !== null) field.current.value = ''
  }
  const told = mistake.value ?? fault
  return (
    <form onSubmit={submit} autocomplete="off">
      <p class="hint">
        This key may not read the log. A management key with <code>log:read</code> shows here who
        saw this token.
      </p>
      <label for="log-key">Management key for the log</label>
      <div class="row">
        <input
          ref={field}
          id="log-key"
          type="password"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-describedby="log-key-hint log-key-fault"
          aria-invalid={told !== ''}
        />
        <button type="submit">Show history</button>
      </div>
      <p id="log-key-fault" class="fault" role="alert">
        {told}
      </p>
      <p id="log-key-hint" class="hint">
        It stays in the memory of this page beside the first one, until the console locks.
      </p>
    </form>
  )
}
