/**
 * Filters of the audit log, kept in memory while the console is open.
 * @module
 */
import { signal } from '@preact/signals'
import { onLock } from './sitting.ts'

const none = { entity_id: '', actor_id: '', operation: '', start_date: '', end_date: '' }

type LogFilters = typeof none

export const logFilters = signal<LogFilters>(none)
/** The same as they are being typed. */
const typed = signal<LogFilters>(none)
/** Cursors of the stretches before, newest last. */
export const logStarts = signal<readonly string[]>([''])

export function filterLog(change: Partial<LogFilters>): void {
  logFilters.value = { ...logFilters.value, ...change }
  typed.value = logFilters.value
  logStarts.value = ['']
}

onLock(() => {
  logFilters.value = none
  typed.value = none
  logStarts.value = ['']
})

const fields = [
  ['entity_id', 'About the id', ''],
  ['actor_id', 'By the application', ''],
  ['operation', 'Operation', 'getToken'],
  ['start_date', 'From (UTC)', '2026-03-01T00:00:00Z'],
  ['end_date', 'Before (UTC)', '2026-03-02T00:00:00Z'],
] as const

function apply(event: Event): void {
  event.preventDefault()
  const { value } = typed
  filterLog(Object.fromEntries(fields.map(([name]) => [name, value[name].trim()])))
}

export const LogFilterForm = () => (
  <form class="filters ids" onSubmit={apply} autocomplete="off">
    {fields.map(([name, label, placeholder]) => (
      <div key={name}>
        <label for={`filter-${name}`}>{label}</label>
        <input
          id={`filter-${name}`}
          name={name}
          value={typed.value[name]}
          onInput={({ currentTarget }) => {
            typed.value = { ...typed.value, [name]: currentTarget.value }
          }}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
        />
      </div>
    ))}
    <div class="row">
      <button type="submit" class="primary">
        Filter
      </button>
      <button type="button" onClick={() => filterLog(none)}>
        Clear
      </button>
    </div>
  </form>
)
