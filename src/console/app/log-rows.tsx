/**
 * Entries of the audit log as rows, each with its proof.
 * @module
 */
import { useSignal } from '@preact/signals'
import type { LogEntry } from '../../client/interface.ts'
import { ApplicationName } from './application-name.tsx'
import { EntryCells, entryColumns } from './log-entry.tsx'
import { filterLogBy } from './log-filters.tsx'
import { ProofRow, VerifyButton, type ProofState } from './log-proof.tsx'
import { Table } from './table.tsx'
import { Text } from './value.tsx'

interface FilteringProps {
  readonly by: 'entity_id' | 'actor_id' | 'operation'
  readonly id: string
  /** True for what has the id of an application, and is one. */
  readonly isApplication?: boolean
}

const Filtering = ({ by, id, isApplication = false }: FilteringProps) => (
  <button type="button" class="link" onClick={() => filterLogBy(by, id)}>
    {isApplication ? <ApplicationName id={id} /> : <Text of={id} />}
  </button>
)

const About = ({ entry }: { readonly entry: LogEntry }) => {
  const ids = entry.entity_ids ?? (entry.entity_id === undefined ? [] : [entry.entity_id])
  const [first] = ids
  // The first of those that a question about access names is the application.
  const isApplication = ['application', 'access'].includes(entry.entity_type ?? '')
  return (
    <>
      {entry.entity_type}{' '}
      {first !== undefined && <Filtering by="entity_id" id={first} isApplication={isApplication} />}
      {ids.length > 1 && ` and ${(ids.length - 1).toLocaleString('en')} more`}
    </>
  )
}

function ruleText(rule: string): string {
  if (rule === 'none') return 'no rule allows it'
  return rule === 'several' ? 'by several rules' : `by ${rule}`
}

const columns = [...entryColumns, 'About', 'By', 'Proof']

function Row({ entry }: { readonly entry: LogEntry }) {
  const proof = useSignal<ProofState>({ state: 'nothing' })
  return (
    <>
      <tr>
        <EntryCells entry={entry} operation={<Filtering by="operation" id={entry.operation} />} />
        <td data-label="About">
          <About entry={entry} />
        </td>
        <td data-label="By">
          {entry.actor_type}{' '}
          {entry.actor_id !== undefined && (
            <Filtering by="actor_id" id={entry.actor_id} isApplication={true} />
          )}
          {entry.rule !== undefined && <div class="hint">{ruleText(entry.rule)}</div>}
        </td>
        <td data-label="Proof">
          <VerifyButton sequence={entry.sequence} state={proof} />
        </td>
      </tr>
      <ProofRow state={proof} columns={columns.length} />
    </>
  )
}

export const LogRows = ({ entries }: { readonly entries: readonly LogEntry[] }) => (
  <Table caption="Entries of the audit log" columns={columns}>
    {entries.map(entry => (
      <Row key={entry.id} entry={entry} />
    ))}
  </Table>
)
