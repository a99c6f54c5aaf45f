/**
 * One application: its rules as a table, the editor of them, and its keys.
 * @module
 */
import { useSignal } from '@preact/signals'
import type { Application } from '../../client/interface.ts'
import { Allowed } from './allowed.tsx'
import { useAnswer } from './asked.ts'
import { ApplicationKeys } from './application-keys.tsx'
import { Facts } from './facts.tsx'
import { Instant } from './instant.tsx'
import { Answer } from './notices.tsx'
import { chosenApplication, go } from './place.ts'
import { RulesEditor } from './rules-editor.tsx'
import { RulesTable } from './rules-table.tsx'
import { Id, Text } from './value.tsx'
import { pathTo } from './vault.ts'

const Shown = ({ application }: { readonly application: Application }) => (
  <Facts
    of={[
      ['Name', <Text of={application.name} />],
      ['Type', application.type],
      ['Plain permissions', application.permissions.join(', ') || 'none'],
      ['Created', <Instant of={String(application.created_at)} />],
      ['Modified', application.modified_at && <Instant of={String(application.modified_at)} />],
      ['Expires', application.expires_at && <Instant of={String(application.expires_at)} />],
    ]}
  />
)

interface GrantsProps {
  readonly application: Application
  readonly again: () => void
}

function Grants({ application, again }: GrantsProps) {
  const isEdited = useSignal(false)
  const leave = () => {
    isEdited.value = false
  }
  if (isEdited.value) {
    return (
      <RulesEditor
        application={application}
        onLeave={leave}
        onSaved={() => {
          leave()
          again()
        }}
      />
    )
  }
  return (
    <>
      <RulesTable of={application.rules} />
      <Allowed by={['application:update', 'access:explain']} does="change them">
        <div class="below">
          <button
            type="button"
            onClick={() => {
              isEdited.value = true
            }}
          >
            Change rules
          </button>
        </div>
      </Allowed>
    </>
  )
}

interface ChosenProps extends ReturnType<typeof useAnswer<Application>> {
  readonly id: string
}

function Chosen({ id, asked, again }: ChosenProps) {
  return (
    <>
      <Answer asked={asked.value} what="the application" again={again}>
        {application => (
          <>
            <section aria-labelledby="facts-title">
              <h2 id="facts-title">Facts</h2>
              <Shown application={application} />
            </section>
            <section aria-labelledby="rules-title">
              <h2 id="rules-title">Rules</h2>
              <Grants application={application} again={again} />
            </section>
          </>
        )}
      </Answer>
      <ApplicationKeys id={id} />
    </>
  )
}

export function ApplicationScreen() {
  const id = chosenApplication.value
  const question = id === undefined ? undefined : { path: pathTo('/applications', id) }
  const { asked, again } = useAnswer<Application>(question)
  const { value } = asked
  const name = value.state === 'answered' ? value.value.name : undefined
  return (
    <>
      <p class="back">
        <button type="button" class="link" onClick={() => go('applications')}>
          All applications
        </button>
      </p>
      <h1 tabIndex={-1}>{name === undefined ? 'Application' : <Text of={name} />}</h1>
      {id === undefined ? (
        <p class="hint">Choose an application from the list.</p>
      ) : (
        <>
          <p class="subject">
            <Id of={id} />
          </p>
          <Chosen key={id} id={id} asked={asked} again={again} />
        </>
      )}
    </>
  )
}
