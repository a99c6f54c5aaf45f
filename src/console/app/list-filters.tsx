/**
 * Filters of the list of tokens, for a key that may read tokens and may not search.
 * @module
 */
import { useSignal } from '@preact/signals'
import { sampleTypes } from './sample.ts'
import { list, listed, showBy, typedFilters, type ListFilters } from './search.ts'
import { withQueryOf } from './vault.ts'

/** @returns name and value; `undefined` for a text that has not both */
function pairIn(text: string): readonly [name: string, value: string] | undefined {
  const [, name, value] = /^([^:]+):(.+)$/s.exec(text.trim()) ?? []
  return name === undefined || value === undefined ? undefined : [name.trim(), value.trim()]
}

/** @param paging further values of the query */
export function listPath(paging: Readonly<Record<string, string | number>>): string {
  const { id, type, container, metadata } = listed.value
  const [name, value = ''] = pairIn(metadata) ?? []
  const pair = name === undefined ? {} : { [`metadata.${name}`]: value }
  return withQueryOf('/v2/tokens', { ...paging, id, type, container, ...pair })
}

/** A path as the vault has it: somebody may leave out its first and its last slash. */
function pathOf(text: string): string {
  const given = text.trim()
  if (given === '') return ''
  return `${given.startsWith('/') ? '' : '/'}${given}${given.endsWith('/') ? '' : '/'}`
}

interface FieldProps {
  readonly name: Exclude<keyof ListFilters, 'type'>
  readonly label: string
  readonly placeholder: string
  readonly fault?: string | undefined
}

const put = (change: Partial<ListFilters>): void => {
  typedFilters.value = { ...typedFilters.value, ...change }
}

const Field = ({ name, label, placeholder, fault }: FieldProps) => (
  <div>
    <label for={`list-${name}`}>{label}</label>
    <input
      id={`list-${name}`}
      value={typedFilters.value[name]}
      placeholder={placeholder}
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
      aria-invalid={fault !== undefined}
      aria-describedby={`list-${name}-fault`}
      onInput={({ currentTarget }) => put({ [name]: currentTarget.value })}
    />
    <p id={`list-${name}-fault`} class="fault" role="alert">
      {fault}
    </p>
  </div>
)

const TypeField = () => (
  <div>
    <label for="list-type">Type</label>
    <select
      id="list-type"
      value={typedFilters.value.type}
      onChange={({ currentTarget }) => put({ type: currentTarget.value })}
    >
      <option value="">any</option>
      {sampleTypes.map(type => (
        <option key={type} value={type}>
          {type}
        </option>
      ))}
    </select>
  </div>
)

export function ListFilterForm() {
  const fault = useSignal<string | undefined>(undefined)
  const apply = (event: Event): void => {
    event.preventDefault()
    const { id, type, container, metadata } = typedFilters.value
    const isWrong = metadata.trim() !== '' && pairIn(metadata) === undefined
    fault.value = isWrong ? 'Expected a name and its value, such as order:17.' : undefined
    if (isWrong) return
    const filters = { id: id.trim(), type, container: pathOf(container), metadata: metadata.trim() }
    showBy(() => list(filters))
  }
  return (
    <form class="search" role="search" onSubmit={apply} autocomplete="off">
      <div class="filters">
        <Field name="id" label="Id" placeholder="order-17" />
        <Field name="metadata" label="Metadata" placeholder="order:17" fault={fault.value} />
        <TypeField />
        <Field name="container" label="Container" placeholder="/pci/high/" />
        <div class="row">
          <button type="submit" class="primary">
            Filter
          </button>
          <button type="button" onClick={() => showBy(() => list({}))}>
            Clear
          </button>
        </div>
      </div>
      <p class="hint">
        This key lists tokens by these fields. To search by <code>AND</code>, <code>OR</code> and
        values it would need <code>token:search</code>.
      </p>
    </form>
  )
}
