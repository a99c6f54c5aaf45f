/**
 * Filters of the audit log, kept in memory while the console is open.
 * @module
 */
import { signal, useSignal } from '@preact/signals'
import { idOfNamed } from './application-names.ts'
import { askAnew } from './asked.ts'
import { stepped } from './place.ts'
import { onLock } from './sitting.ts'
import type { Refusal } from './vault.ts'

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

/** Shows the entries of one thing; the way back leads to those that were shown before. */
export function filterLogBy(name: keyof LogFilters, value: string): void {
  const before = logFilters.value
  if (before[name] === value) return
  const startsBefore = logStarts.value
  filterLog({ [name]: value })
  stepped(() => {
    filterLog(before)
    logStarts.value = startsBefore
  })
}

onLock(() => {
  logFilters.value = none
  typed.value = none
  logStarts.value = ['']
})

const fields = [
  ['entity_id', 'About the id', 'order-17'],
  ['actor_id', 'By the application', 'a name or an id'],
  ['operation', 'Operation', 'getToken'],
  ['start_date', 'From (UTC)', '2026-03-01'],
  ['end_date', 'Before (UTC)', '2026-03-02'],
] as const

type Errors = Refusal['errors']

const times: readonly string[] = ['start_date', 'end_date']
const timeFault = 'Expected a day, such as 2026-03-01, or a time, such as 2026-03-01T12:00:00Z.'

/** @returns a fault of that filter, as the vault has found it */
function faultOf(name: string, errors: Errors): string | undefined {
  const says = errors?.[`query.${name}`]
  return times.includes(name) && says !== undefined ? timeFault : says?.join(', ')
}

/** True if the fields say themselves all that the vault has found wrong. */
export const isOfFilters = (errors: Errors): boolean =>
  errors !== undefined &&
  Object.keys(errors).every(path => fields.some(([name]) => path === `query.${name}`))

const trimmed = (): LogFilters => ({
  ...none,
  ...Object.fromEntries(fields.map(([name]) => [name, typed.value[name].trim()])),
})

interface FieldProps {
  readonly of: (typeof fields)[number]
  readonly fault: string | undefined
}

const Field = ({ of: [name, label, placeholder], fault }: FieldProps) => (
  <div>
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
      aria-invalid={fault !== undefined}
      aria-describedby={`filter-${name}-fault`}
    />
    <p id={`filter-${name}-fault`} class="fault" role="alert">
      {fault}
    </p>
  </div>
)

export function LogFilterForm({ errors }: { readonly errors: Errors }) {
  /** Fault of the name of the application. */
  const fault = useSignal<string | undefined>(undefined)
  const apply = async (event: Event): Promise<void> => {
    event.preventDefault()
    const given = trimmed()
    const found = await idOfNamed(given.actor_id)
    fault.value = found.fault
    if (found.fault !== undefined) return
    filterLog({ ...given, actor_id: found.id })
    typed.value = given
    askAnew()
  }
  const clear = (): void => {
    fault.value = undefined
    filterLog(none)
  }
  return (
    <form class="filters ids" onSubmit={event => void apply(event)} autocomplete="off">
      {fields.map(field => (
        <Field
          key={field[0]}
          of={field}
          fault={(field[0] === 'actor_id' ? fault.value : undefined) ?? faultOf(field[0], errors)}
        />
      ))}
      <div class="row">
        <button type="submit" class="primary">
          Filter
        </button>
        <button type="button" onClick={clear}>
          Clear
        </button>
      </div>
    </form>
  )
}
