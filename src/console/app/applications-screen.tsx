/**
 * Applications of the tenant, without their keys.
 * @module
 */
import { signal } from '@preact/signals'
import type { Application, ApplicationList } from '../../client/interface.ts'
import { useAnswer } from './asked.ts'
import { listedPermissionsMax, rowsMax } from './limits.ts'
import { Instant } from './instant.tsx'
import { NewApplicationForm } from './new-application.tsx'
import { Answer, Empty } from './notices.tsx'
import { openApplication } from './place.ts'
import { may, onLock } from './sitting.ts'
import { Table } from './table.tsx'
import { Id, Text } from './value.tsx'
import { withQueryOf } from './vault.ts'

const pageNumber = signal(1)
onLock(() => {
  pageNumber.value = 1
})

/** Plain ones and those of its rules: the first, and how many more. */
function permissionsText({ permissions, rules }: Application): string {
  const all = [...new Set([...permissions, ...rules.flatMap(rule => rule.permissions)])]
  const first = all.slice(0, listedPermissionsMax).join(', ') || 'none'
  const left = all.length - listedPermissionsMax
  return left > 0 ? `${first} and ${left} more` : first
}

const Row = ({ application }: { readonly application: Application }) => (
  <tr>
    <th scope="row" data-label="Name">
      <button type="button" class="link" onClick={() => openApplication(application.id)}>
        <Text of={application.name} />
      </button>
      <div class="hint whole">
        <Id of={application.id} />
      </div>
    </th>
    <td data-label="Type">{application.type}</td>
    <td data-label="Rules">{application.rules.length}</td>
    <td data-label="Permissions">{permissionsText(application)}</td>
    <td data-label="Created">
      <Instant of={String(application.created_at)} />
    </td>
  </tr>
)

const Rows = ({ of }: { readonly of: readonly Application[] }) => (
  <Table caption="Applications" columns={['Name', 'Type', 'Rules', 'Permissions', 'Created']}>
    {of.map(application => (
      <Row key={application.id} application={application} />
    ))}
  </Table>
)

const Pages = ({ last }: { readonly last: number }) =>
  last <= 1 && pageNumber.value === 1 ? null : (
    <nav class="steps" aria-label="Pages">
      <button
        type="button"
        disabled={pageNumber.value <= 1}
        onClick={() => (pageNumber.value -= 1)}
      >
        Newer
      </button>
      <span>
        Page {pageNumber.value} of {Math.max(last, 1)}
      </span>
      <button
        type="button"
        disabled={pageNumber.value >= last}
        onClick={() => (pageNumber.value += 1)}
      >
        Older
      </button>
    </nav>
  )

export function ApplicationsScreen() {
  const path = withQueryOf('/applications', { page: pageNumber.value, size: rowsMax })
  const { asked, again } = useAnswer<ApplicationList>({ path })
  return (
    <>
      <h1 tabIndex={-1}>Applications</h1>
      {may('application:create') && <NewApplicationForm onMade={again} />}
      <Answer asked={asked.value} what="applications" again={again}>
        {({ data, pagination }) => (
          <>
            {data.length === 0 ? <Empty title="No applications" /> : <Rows of={data} />}
            <Pages last={pagination.total_pages} />
          </>
        )}
      </Answer>
    </>
  )
}
