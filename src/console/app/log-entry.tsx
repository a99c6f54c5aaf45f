/**
 * The cells that each list of entries of the audit log begins with.
 * @module
 */
import type { ComponentChildren } from 'preact'
import type { LogEntry } from '../../client/interface.ts'
import { Instant } from './instant.tsx'
import { Reason } from './reason.tsx'
import { StatedReason, Text } from './value.tsx'

export const entryColumns = ['When', 'Operation', 'Result'] as const

interface CellsProps {
  readonly entry: LogEntry
  /** In place of the plain name of its operation. */
  readonly operation?: ComponentChildren
}

export const EntryCells = ({ entry, operation }: CellsProps) => (
  <>
    <td data-label="When">
      <Instant of={String(entry.created_at)} />
      <div class="hint">entry {entry.sequence}</div>
    </td>
    <th scope="row" class="whole" data-label="Operation">
      {operation ?? <Text of={entry.operation} />}
      {entry.count !== undefined && ` × ${entry.count}`}
      {entry.stated_reason !== undefined && <StatedReason of={entry.stated_reason} />}
    </th>
    <td data-label="Result">
      <span class={`badge ${entry.result < 400 ? 'good' : 'bad'}`}>{entry.result}</span>
      {entry.reason !== undefined && (
        <div class="reason">
          <Reason of={entry.reason} />
        </div>
      )}
      {entry.transform !== undefined && (
        <>
          {' '}
          <span class={`badge ${entry.transform}`}>{entry.transform}</span>
        </>
      )}
    </td>
  </>
)
