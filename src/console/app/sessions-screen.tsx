/**
 * Sessions that are alive, and the end of one.
 * @module
 */
import { signal } from '@preact/signals'
import type { Session, SessionList } from '../../client/interface.ts'
import { Action } from './actions.tsx'
import { Allowed } from './allowed.tsx'
import { ApplicationName } from './application-name.tsx'
import { useAnswer } from './asked.ts'
import { rowsMax } from './limits.ts'
import { Instant } from './instant.tsx'
import { Answer, Empty } from './notices.tsx'
import { may, onLock } from './sitting.ts'
import { Steps } from './steps.tsx'
import { actionIf, Table } from './table.tsx'
import { Id } from './value.tsx'
import { pathTo, withQueryOf } from './vault.ts'

const starts = signal<readonly string[]>([''])
onLock(() => {
  starts.value = ['']
})

interface RowsProps {
  readonly of: readonly Session[]
  readonly again: () => void
}

const columns = ['Id', 'Started by', 'Started', 'Authorized by', 'Ends']

const Rows = ({ of, again }: RowsProps) => (
  <Table caption="Sessions" columns={columns} {...actionIf('session:delete', 'End')}>
    {of.map(session => (
      <tr key={session.id}>
        <th scope="row" data-label="Id">
          <Id of={session.id} />
        </th>
        <td data-label="Started by">
          <ApplicationName id={session.created_by} />
        </td>
        <td data-label="Started">
          <Instant of={String(session.created_at)} />
        </td>
        <td data-label="Authorized by">
          {session.authorized_by === undefined ? (
            'nobody yet'
          ) : (
            <ApplicationName id={session.authorized_by} />
          )}
        </td>
        <td data-label="Ends">
          <Instant of={String(session.expires_at)} />
        </td>
        {may('session:delete') && (
          <td data-label="">
            <Action
              label="End"
              name={`session ${session.id}`}
              confirm="End it now"
              effect="The page that uses it is refused at once, and has to start another."
              question={{ method: 'DELETE', path: pathTo('/sessions', session.id) }}
              onDone={again}
              onGone={again}
            />
          </td>
        )}
      </tr>
    ))}
  </Table>
)

export function SessionsScreen() {
  const path = withQueryOf('/sessions', { start: starts.value.at(-1) ?? '', size: rowsMax })
  const { asked, again } = useAnswer<SessionList>({ path })
  return (
    <>
      <h1 tabIndex={-1}>Sessions</h1>
      <Answer asked={asked.value} what="sessions" again={again}>
        {({ data, pagination }) => (
          <>
            {data.length === 0 ? (
              <Empty title="No sessions">
                <p>A page starts one by a public key; it ends by itself.</p>
              </Empty>
            ) : (
              <>
                <Rows of={data} again={again} />
                <Allowed by={['session:delete']} does="end one" />
              </>
            )}
            <Steps starts={starts} next={pagination.next} />
          </>
        )}
      </Answer>
    </>
  )
}
