/**
 * Operation and result of an entry of the audit log, for the screens that list entries.
 * @module
 */
import type { LogEntry } from '../../client/interface.ts'
import { StatedReason, Text } from './value.tsx'

interface EntryProps {
  readonly entry: LogEntry
}

export const LoggedOperation = ({ entry }: EntryProps) => (
  <>
    <Text of={entry.operation} />
    {entry.count !== undefined && ` × ${entry.count}`}
    {entry.stated_reason !== undefined && <StatedReason of={entry.stated_reason} />}
  </>
)

export const LoggedResult = ({ entry }: EntryProps) => (
  <>
    <span class={`badge ${entry.result < 400 ? 'good' : 'bad'}`}>
      {entry.result} {entry.reason}
    </span>
    {entry.transform !== undefined && (
      <span class={`badge ${entry.transform}`}>{entry.transform}</span>
    )}
  </>
)
