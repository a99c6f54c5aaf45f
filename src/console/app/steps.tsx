/**
 * The way through a long list: to older stretches of a walk, and back.
 * @module
 */
import type { Signal } from '@preact/signals'

interface StepsProps {
  /** Cursors of the stretches before, newest last. */
  readonly starts: Signal<readonly string[]>
  readonly next: string | undefined
}

/** Nothing, where one stretch is all there is. */
export const Steps = ({ starts, next }: StepsProps) =>
  starts.value.length === 1 && next === undefined ? null : (
    <nav class="steps" aria-label="Pages">
      <button
        type="button"
        disabled={starts.value.length === 1}
        onClick={() => {
          starts.value = starts.value.slice(0, -1)
        }}
      >
        Newer
      </button>
      <span>Page {starts.value.length}</span>
      <button
        type="button"
        disabled={next === undefined}
        onClick={() => {
          starts.value = [...starts.value, next ?? '']
        }}
      >
        Older
      </button>
    </nav>
  )
