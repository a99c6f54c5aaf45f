/**
 * Permissions to choose from: those that the type of an application may hold, with what each is
 * for, as the vault lists them.
 * @module
 */
import type { Permission } from '../../client/interface.ts'

interface PermissionChoiceProps {
  /** Begins the ids of its boxes. */
  readonly id: string
  readonly legend: string
  readonly offered: readonly Permission[]
  readonly held: readonly string[]
  readonly set: (held: readonly string[]) => void
}

/** Also with those that are held and no longer offered: they can be taken away. */
const choicesOf = (offered: readonly Permission[], held: readonly string[]) => [
  ...offered.map(({ type, description }) => ({ type: String(type), description })),
  ...held
    .filter(name => !offered.some(({ type }) => type === name))
    .map(type => ({ type, description: '' })),
]

export const PermissionChoice = ({ id, legend, offered, held, set }: PermissionChoiceProps) => (
  <fieldset id={id}>
    <legend>{legend}</legend>
    <div class="permissions">
      {choicesOf(offered, held).map(({ type, description }) => (
        <div key={type} class="choice">
          <input
            id={`${id}-${type}`}
            type="checkbox"
            checked={held.includes(type)}
            aria-describedby={`${id}-${type}-for`}
            onChange={({ currentTarget }) =>
              set(currentTarget.checked ? [...held, type] : held.filter(name => name !== type))
            }
          />
          <label for={`${id}-${type}`}>{type}</label>
          <span id={`${id}-${type}-for`} class="hint">
            {description}
          </span>
        </div>
      ))}
    </div>
  </fieldset>
)
