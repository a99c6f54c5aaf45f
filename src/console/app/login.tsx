/**
 * The door: a key is typed, tried by the one call that any key may make, and kept in memory.
 * @module
 */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Application } from '../../client/interface.ts'
import { goFirst } from './screens.ts'
import { holdKey, lock, lockReason, open, permissionsOf } from './sitting.ts'
import { ask } from './vault.ts'

/** A header carries visible ASCII alone. */
export const looksLikeKey = (text: string): boolean => /^[!-~]+$/.test(text)

export const expectedKey = 'Expected an API key, such as key_…, without blanks.'

const sessionStart = 'key_sess_'

/** @returns what went wrong, if the console stays locked */
async function enter(key: string): Promise<string | undefined> {
  if (!looksLikeKey(key)) return expectedKey
  holdKey(key)
  const outcome = await ask<Application>({ path: '/applications/key' })
  if (outcome.refusal === undefined) {
    const { id, name, type } = outcome.value
    open({ id, name, type, permissions: permissionsOf(outcome.value) })
    goFirst()
    return undefined
  }
  const { refusal } = outcome
  if (refusal.status === 401) return undefined
  if (key.startsWith(sessionStart) && refusal.status === 403) {
    open({ name: 'Session', type: 'session' })
    goFirst()
    return undefined
  }
  // The door is drawn anew, and shows this.
  lock({ text: refusal.text, isFault: true })
  return undefined
}

export function Login() {
  const field = useRef<HTMLInputElement>(null)
  const isBusy = useSignal(false)
  const { text: told, isFault = false } = lockReason.value ?? {}
  const fault = useSignal<string | undefined>(isFault ? told : undefined)
  const note = useSignal<string | undefined>(isFault ? undefined : told)
  useEffect(() => field.current?.focus(), [])
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const typed = field.current?.value.trim() ?? ''
    if (isBusy.value) return
    isBusy.value = true
    fault.value = undefined
    note.value = undefined
    const found = await enter(typed)
    if (field.current !== null) field.current.value = ''
    fault.value = found
    isBusy.value = false
    field.current?.focus()
  }
  return (
    <main class="door">
      <form onSubmit={event => void submit(event)} autocomplete="off">
        <h1>Coffer</h1>
        <p role="status">{note.value}</p>
        <label for="key">API key</label>
        <input
          ref={field}
          id="key"
          type="password"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-describedby="key-hint key-fault"
          aria-invalid={fault.value !== undefined}
        />
        <p id="key-fault" class="fault" role="alert">
          {fault.value}
        </p>
        <button type="submit" class="primary" disabled={isBusy.value}>
          {isBusy.value ? 'Opening…' : 'Open'}
        </button>
        <p id="key-hint" class="hint">
          A key begins with <code>key_</code>. The commands dev and init print one, and a manager
          makes more under Applications. It stays in the memory of this page. The console locks
          after ten idle minutes, on reload, and when you leave it.
        </p>
      </form>
    </main>
  )
}
