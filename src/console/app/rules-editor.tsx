/**
 * The editor of what an application is granted. What a change would show and hide is counted before
 * it can be saved; the vault checks all else.
 * @module
 */
import { useSignal, type Signal } from '@preact/signals'
import type {
  AccessSimulation,
  Application,
  Permission,
  Transform,
} from '../../client/interface.ts'
import { Action } from './actions.tsx'
import { known, useAnswer, useAsking } from './asked.ts'
import { Answer } from './notices.tsx'
import { PermissionChoice } from './permission-choice.tsx'
import { RuleOrder } from './rules-table.tsx'
import { revealedBy, Simulated } from './simulated.tsx'
import { pathTo, withQueryOf } from './vault.ts'

interface DraftRule {
  /** Empty for none. */
  readonly description: string
  readonly priority: string
  readonly container: string
  readonly transform: string
  readonly permissions: readonly string[]
}

interface Draft {
  readonly permissions: readonly string[]
  readonly rules: readonly DraftRule[]
}

const draftOf = ({ permissions, rules }: Application): Draft => ({
  permissions,
  rules: rules.map(rule => ({
    description: rule.description ?? '',
    priority: String(rule.priority),
    container: rule.container,
    transform: rule.transform,
    permissions: rule.permissions,
  })),
})

/** Grants as the vault takes them; it says what is wrong with them. */
const grantsOf = ({ permissions, rules }: Draft) => ({
  permissions,
  rules: rules.map(rule => ({
    ...(rule.description.trim() === '' ? {} : { description: rule.description.trim() }),
    priority: Number(rule.priority),
    container: rule.container.trim(),
    transform: rule.transform,
    permissions: rule.permissions,
  })),
})

const transforms: readonly Transform[] = ['redact', 'mask', 'reveal']

interface FieldProps {
  readonly id: string
  readonly label: string
  readonly value: string
  readonly set: (value: string) => void
}

const Field = ({ id, label, value, set }: FieldProps) => (
  <div>
    <label for={id}>{label}</label>
    <input
      id={id}
      value={value}
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => set(currentTarget.value)}
    />
  </div>
)

interface OfferedProps {
  readonly offered: readonly Permission[]
}

interface RuleProps extends OfferedProps {
  readonly rule: DraftRule
  readonly place: number
  readonly set: (rule: DraftRule | undefined) => void
}

const RuleFields = ({ rule, place, set, offered }: RuleProps) => (
  <fieldset>
    <legend>rule {place}</legend>
    <div class="filters">
      {(['priority', 'container'] as const).map(name => (
        <Field
          key={name}
          id={`rule-${place}-${name}`}
          label={name.replace(/^./, first => first.toUpperCase())}
          value={rule[name]}
          set={value => set({ ...rule, [name]: value })}
        />
      ))}
      <div>
        <label for={`rule-${place}-transform`}>Shows</label>
        <select
          id={`rule-${place}-transform`}
          value={rule.transform}
          onChange={({ currentTarget }) => set({ ...rule, transform: currentTarget.value })}
        >
          {transforms.map(name => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <Field
        id={`rule-${place}-description`}
        label="Note"
        value={rule.description}
        set={description => set({ ...rule, description })}
      />
      <div class="row">
        <button type="button" aria-label={`Remove rule ${place}`} onClick={() => set(undefined)}>
          Remove
        </button>
      </div>
    </div>
    <PermissionChoice
      id={`rule-${place}-permissions`}
      legend="Permissions"
      offered={offered}
      held={rule.permissions}
      set={permissions => set({ ...rule, permissions })}
    />
  </fieldset>
)

interface RuleListProps extends OfferedProps {
  readonly draft: Signal<Draft>
}

function RuleList({ draft, offered }: RuleListProps) {
  const { rules } = draft.value
  const put = (next: readonly DraftRule[]) => {
    draft.value = { ...draft.value, rules: next }
  }
  const set = (place: number, rule: DraftRule | undefined) =>
    put(rules.flatMap((each, at) => (at !== place ? [each] : rule === undefined ? [] : [rule])))
  const add = () => {
    const last = Math.max(0, ...rules.map(({ priority }) => Number(priority) || 0))
    const rule = { container: '/', transform: 'mask', permissions: ['token:read'] }
    put([...rules, { ...rule, description: '', priority: String(last + 1) }])
  }
  return (
    <>
      {rules.length > 0 && <RuleOrder />}
      {rules.map((rule, place) => (
        <RuleFields
          key={place}
          rule={rule}
          place={place}
          offered={offered}
          set={next => set(place, next)}
        />
      ))}
      <p>
        <button type="button" onClick={add}>
          Add a rule
        </button>
      </p>
    </>
  )
}

interface EditorProps {
  readonly application: Application
  readonly onLeave: () => void
  readonly onSaved: () => void
}

export function RulesEditor({ application, onLeave, onSaved }: EditorProps) {
  const draft = useSignal<Draft>(draftOf(application))
  const tried = useSignal<string | undefined>(undefined)
  const { asked, run } = useAsking<AccessSimulation>()
  const path = withQueryOf('/permissions', { application_type: application.type })
  const offered = known(useAnswer<readonly Permission[]>({ path }).asked.value) ?? []
  const proposed = grantsOf(draft.value)
  const isTried = tried.value === JSON.stringify(proposed)
  const simulate = async (): Promise<void> => {
    tried.value = undefined
    const body = { application_id: application.id, proposed }
    const { state } = await run({ method: 'POST', path: '/access/simulate', body })
    if (state === 'answered') tried.value = JSON.stringify(proposed)
  }
  const found = asked.value
  const reveals = isTried && found.state === 'answered' ? revealedBy(found.value.changes) : 0
  const target = pathTo('/applications', application.id) + (reveals > 0 ? '?confirm=true' : '')
  const confirm = reveals > 0 ? `Reveal ${reveals.toLocaleString('en')} tokens` : undefined
  return (
    <>
      <PermissionChoice
        id="plain-permissions"
        legend="Plain permissions, everywhere"
        offered={offered}
        held={draft.value.permissions}
        set={permissions => {
          draft.value = { ...draft.value, permissions }
        }}
      />
      <RuleList draft={draft} offered={offered} />
      <div class="row buttons">
        <button type="button" class="primary" onClick={() => void simulate()}>
          Simulate
        </button>
        <Action<Application>
          label="Save"
          isLarge={true}
          question={{ method: 'PUT', path: target, body: { name: application.name, ...proposed } }}
          disabled={!isTried}
          onDone={onSaved}
          {...(confirm === undefined
            ? {}
            : { confirm, effect: 'Keys of this application see these values from then on.' })}
        />
        <button type="button" onClick={onLeave}>
          Cancel
        </button>
      </div>
      {!isTried && <p class="hint">Simulate these rules before saving them.</p>}
      <Answer asked={found} what="the simulation">
        {({ changes }) => <Simulated changes={changes} isOfNow={isTried} />}
      </Answer>
    </>
  )
}
