/**
 * A new application: its name, its type and what it may do. Its plain permissions show masks; rules
 * that are narrower, or reveal, are added on its page, where they are tried first.
 * @module
 */
import { useSignal } from '@preact/signals'
import type { Application, Permission } from '../../client/interface.ts'
import { Action } from './actions.tsx'
import { forgetLearning } from './application-names.ts'
import { known, useAnswer } from './asked.ts'
import { PermissionChoice } from './permission-choice.tsx'
import { openApplication } from './place.ts'
import { SecretOnce } from './secret-once.tsx'
import { withQueryOf } from './vault.ts'

interface Kind {
  readonly type: Application['type']
  readonly what: string
  /** Reach of its permissions, for the person. */
  readonly reach?: string
  /** Permissions to begin with. */
  readonly first: readonly string[]
}

const kinds: readonly [Kind, ...Kind[]] = [
  {
    type: 'private',
    what: 'A backend, or a desk of people.',
    reach:
      'They count in every container and show masks. Rules for some containers alone, or to ' +
      'reveal, are added on its page, and tried there first.',
    first: ['token:read', 'token:search'],
  },
  {
    type: 'public',
    what: 'A page: its key may be seen by everybody, and only makes tokens.',
    reach:
      'They count in every container. Rules for some containers alone are added on its page, and ' +
      'tried there first.',
    first: ['token:create'],
  },
  {
    type: 'management',
    what: 'Those who tend the vault, and see no token.',
    first: ['status:read'],
  },
]

type Made = Pick<Application, 'id'> & { readonly key: string }

interface KindFieldProps {
  readonly kind: Kind
  readonly set: (kind: Kind) => void
}

const KindField = ({ kind, set }: KindFieldProps) => (
  <div>
    <label for="new-type">Type</label>
    <select
      id="new-type"
      aria-describedby="new-type-what"
      value={kind.type}
      onChange={({ currentTarget }) => {
        set(kinds.find(({ type }) => type === currentTarget.value) ?? kinds[0])
      }}
    >
      {kinds.map(({ type }) => (
        <option key={type} value={type}>
          {type}
        </option>
      ))}
    </select>
  </div>
)

function Form({ onMade }: { readonly onMade: (made: Made) => void }) {
  const name = useSignal('')
  const kind = useSignal(kinds[0])
  const permissions = useSignal(kinds[0].first)
  const { type } = kind.value
  const path = withQueryOf('/permissions', { application_type: type })
  const offered = known(useAnswer<readonly Permission[]>({ path }).asked.value) ?? []
  const body = { name: name.value.trim(), type, permissions: permissions.value }
  return (
    <section aria-label="New application">
      <form onSubmit={event => event.preventDefault()} autocomplete="off">
        <div class="filters">
          <div>
            <label for="new-name">Name</label>
            <input
              id="new-name"
              value={name.value}
              placeholder="Support desk"
              required
              pattern=".*\S.*"
              autocomplete="off"
              onInput={({ currentTarget }) => {
                name.value = currentTarget.value
              }}
            />
          </div>
          <KindField
            kind={kind.value}
            set={next => {
              kind.value = next
              permissions.value = next.first
            }}
          />
        </div>
        <p id="new-type-what" class="hint">
          {kind.value.what}
        </p>
        <PermissionChoice
          id="new-permissions"
          legend="Permissions"
          offered={offered}
          held={permissions.value}
          set={held => {
            permissions.value = held
          }}
        />
        {body.permissions.length === 0 && <p class="hint">Choose at least one of them.</p>}
        {kind.value.reach !== undefined && <p class="hint">{kind.value.reach}</p>}
        <Action<Made>
          label="Make application"
          isLarge={true}
          isSubmit={true}
          question={{ method: 'POST', path: '/applications', body }}
          disabled={body.permissions.length === 0}
          onDone={onMade}
        />
      </form>
    </section>
  )
}

/** @param onMade is told once there is one more */
export function NewApplicationForm({ onMade }: { readonly onMade: () => void }) {
  const made = useSignal<Made | undefined>(undefined)
  return (
    <details class="new">
      <summary>New application</summary>
      {made.value === undefined ? (
        <Form
          onMade={answer => {
            made.value = answer
            forgetLearning()
            onMade()
          }}
        />
      ) : (
        <SecretOnce secret={made.value.key}>
          <button
            type="button"
            class="primary"
            onClick={() => made.value !== undefined && openApplication(made.value.id)}
          >
            I have copied it: see its page
          </button>
        </SecretOnce>
      )}
    </details>
  )
}
