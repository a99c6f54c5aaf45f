/**
 * The history of one token by the audit log, by a key that may read that.
 * @module
 */
import type { LogEntry, LogList } from '../../client/interface.ts'
import { ApplicationName } from './application-name.tsx'
import { useAnswer } from './asked.ts'
import { rowsMax } from './limits.ts'
import { EntryCells, entryColumns } from './log-entry.tsx'
import { LogKey } from './log-key.tsx'
import { Answer, Empty } from './notices.tsx'
import { Table } from './table.tsx'
import { withQueryOf, type Refusal } from './vault.ts'

const question = (id: string) => ({
  path: withQueryOf('/logs', { entity_type: 'token', entity_id: id, size: rowsMax, start: '' }),
})

/** Returns the fault of the second key, empty without one; `undefined` if no key is at fault. */
function faultOf({ status, missing, isOfLogKey }: Refusal): string | undefined {
  if (status === 401) return 'The vault does not take that key: it is wrong, expired or revoked.'
  if (missing !== 'log:read') return undefined
  return isOfLogKey === true ? 'That key may not read the log either.' : ''
}

const Row = ({ entry }: { readonly entry: LogEntry }) => (
  <tr>
    <EntryCells entry={entry} />
    <td data-label="By">
      {entry.actor_type} {entry.actor_id !== undefined && <ApplicationName id={entry.actor_id} />}
    </td>
  </tr>
)

const Entries = ({ of }: { readonly of: readonly LogEntry[] }) =>
  of.length === 0 ? (
    <Empty title="No entry of the audit log is about it" />
  ) : (
    <Table caption="Its entries of the audit log" columns={[...entryColumns, 'By']}>
      {of.map(entry => (
        <Row key={entry.id} entry={entry} />
      ))}
    </Table>
  )

function Told({ id }: { readonly id: string }) {
  const { asked, again } = useAnswer<LogList>(question(id))
  const { value } = asked
  const fault = value.state === 'refused' ? faultOf(value.refusal) : undefined
  if (fault !== undefined) return <LogKey fault={fault} onHeld={again} />
  return (
    <Answer asked={value} what="its history" again={again}>
      {({ data }) => <Entries of={data} />}
    </Answer>
  )
}

export const TokenHistory = ({ id }: { readonly id: string }) => (
  <section aria-labelledby="history-title">
    <h2 id="history-title">History</h2>
    <Told id={id} />
  </section>
)
