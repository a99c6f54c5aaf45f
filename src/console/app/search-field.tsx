/**
 * The field of a search, which suggests words while it is typed: a combobox with a list, after the
 * ARIA Authoring Practices.
 * @module
 */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { searched, typed } from './search.ts'
import { completionOf, type KnownWords, type Suggestion } from './suggestions.ts'
import { Text } from './value.tsx'

const optionId = (index: number): string => `query-option-${index}`

interface OptionsProps {
  readonly suggestions: readonly Suggestion[]
  readonly active: number
  readonly onPick: (suggestion: Suggestion) => void
}

const Options = ({ suggestions, active, onPick }: OptionsProps) => (
  <ul class="options" id="query-options" role="listbox" aria-label="Suggestions">
    {suggestions.map((suggestion, index) => (
      <li
        key={suggestion.text}
        id={optionId(index)}
        role="option"
        aria-selected={index === active}
        // The focus stays in the field.
        onMouseDown={event => event.preventDefault()}
        onClick={() => onPick(suggestion)}
      >
        <code>
          <Text of={suggestion.text.trim()} />
        </code>{' '}
        <span class="hint">{suggestion.means}</span>
      </li>
    ))}
  </ul>
)

/** The words that may stand at the caret, and the one that the keyboard is at. */
function useSuggestions(known: KnownWords) {
  const field = useRef<HTMLInputElement>(null)
  const caret = useSignal<number | undefined>(undefined)
  const active = useSignal(-1)
  const { from, suggestions } =
    caret.value === undefined
      ? { from: 0, suggestions: [] }
      : completionOf(typed.value.slice(0, caret.value), known)
  const lookAt = (next: number | undefined): void => {
    caret.value = next
    active.value = -1
  }
  const look = (): void => lookAt(field.current?.selectionStart ?? undefined)
  const pick = ({ text }: Suggestion): void => {
    const rest = typed.value.slice(caret.value).replace(/^[^\s()]+/, '')
    typed.value = typed.value.slice(0, from) + text + rest.trimStart()
    if (field.current === null) return
    field.current.value = typed.value
    field.current.setSelectionRange(from + text.length, from + text.length)
    look()
  }
  const step = (by: number): void => {
    if (caret.value === undefined) look()
    const count = suggestions.length + 1
    active.value = ((active.value + 1 + by + count) % count) - 1
  }
  return { field, suggestions, active, lookAt, look, pick, step }
}

interface FieldProps {
  readonly known: KnownWords
  /** Id of what says that the query is wrong. */
  readonly mistake: string | undefined
}

export function SearchField({ known, mistake }: FieldProps) {
  const { field, suggestions, active, lookAt, look, pick, step } = useSuggestions(known)
  const isOpen = suggestions.length > 0
  const onKeyDown = (event: KeyboardEvent): void => {
    const chosen = suggestions[active.value]
    if (event.key === 'ArrowDown') step(1)
    else if (event.key === 'ArrowUp') step(-1)
    else if (event.key === 'Escape' && isOpen) lookAt(undefined)
    else if (event.key === 'Enter' && chosen !== undefined) pick(chosen)
    else {
      if (event.key === 'Enter') lookAt(undefined)
      return
    }
    event.preventDefault()
  }
  return (
    <div class="combobox">
      <input
        ref={field}
        id="query"
        type="text"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls="query-options"
        aria-activedescendant={active.value < 0 ? undefined : optionId(active.value)}
        aria-invalid={mistake !== undefined && typed.value === searched.value}
        aria-describedby={mistake}
        value={typed.value}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder="type:card AND metadata.order:17"
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
          look()
        }}
        onKeyDown={onKeyDown}
        onBlur={() => lookAt(undefined)}
      />
      {isOpen && <Options suggestions={suggestions} active={active.value} onPick={pick} />}
    </div>
  )
}
