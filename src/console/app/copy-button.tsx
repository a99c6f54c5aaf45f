/**
 * Copies a text that is shown. Browsers offer it over TLS and on loopback alone.
 * @module
 */
import { useSignal } from '@preact/signals'

interface CopyButtonProps {
  readonly text: string
  /** Name of the text, for those who do not see what is beside the button. */
  readonly what: string
}

type CopyState = 'Copy' | 'Copied' | 'Not copied: select it'

export function CopyButton({ text, what }: CopyButtonProps) {
  const state = useSignal<CopyState>('Copy')
  const { clipboard } = navigator as { readonly clipboard?: Clipboard }
  if (clipboard === undefined) return null
  const copy = async (): Promise<void> => {
    try {
      await clipboard.writeText(text)
      state.value = 'Copied'
    } catch {
      state.value = 'Not copied: select it'
    }
  }
  return (
    <button
      type="button"
      class="small"
      aria-label={`${state.value} ${what}`}
      onClick={() => void copy()}
    >
      <span aria-live="polite">{state.value}</span>
    </button>
  )
}
