/**
 * The audit log: filtered, followed, and each entry proved.
 * @module
 */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { LogEntry, LogList } from '../../client/interface.ts'
import { ApplicationName } from './application-name.tsx'
import { useAnswer } from './asked.ts'
import { followMs, rowsMax } from './limits.ts'
import { Instant } from './instant.tsx'
import { LoggedOperation, LoggedResult } from './log-entry.tsx'
import { filterLog, LogFilterForm, logFilters, logStarts } from './log-filters.tsx'
import { ProofRow, VerifyButton, type ProofState } from './log-proof.tsx'
import { Answer, Empty } from './notices.tsx'
import { every } from './platform.ts'
import { Steps } from './steps.tsx'
import { Table } from './table.tsx'
import { withQueryOf } from './vault.ts'

interface FilteringProps {
  readonly by: 'entity_id' | 'actor_id'
  readonly id: string
}

const Filtering = ({ by, id }: FilteringProps) => (
  <button type="button" class="link" onClick={() => filterLog({ [by]: id })}>
    <ApplicationName id={id} />
  </button>
)

const About = ({ entry }: { readonly entry: LogEntry }) => {
  const ids = entry.entity_ids ?? (entry.entity_id === undefined ? [] : [entry.entity_id])
  const [first] = ids
  return (
    <>
      {entry.entity_type} {first !== undefined && <Filtering by="entity_id" id={first} />}
      {ids.length > 1 && ` and ${(ids.length - 1).toLocaleString('en')} more`}
    </>
  )
}

const columns = ['When', 'Operation', 'Result', 'About', 'By', 'Proof']

function Row({ entry }: { readonly entry: LogEntry }) {
  const proof = useSignal<ProofState>({ state: 'nothing' })
  return (
    <>
      <tr>
        <td data-label="When">
          <Instant of={String(entry.created_at)} />
        </td>
        <th scope="row" class="whole" data-label="Operation">
          <LoggedOperation entry={entry} />
        </th>
        <td data-label="Result">
          <LoggedResult entry={entry} />
        </td>
        <td data-label="About">
          <About entry={entry} />
        </td>
        <td data-label="By">
          {entry.actor_type}{' '}
          {entry.actor_id !== undefined && <Filtering by="actor_id" id={entry.actor_id} />}
          {entry.rule !== undefined && <div class="hint">{entry.rule}</div>}
        </td>
        <td data-label="Proof">
          <VerifyButton sequence={entry.sequence} state={proof} />
        </td>
      </tr>
      <ProofRow state={proof} columns={columns.length} />
    </>
  )
}

const Rows = ({ entries }: { readonly entries: readonly LogEntry[] }) => (
  <Table caption="Entries of the audit log" columns={columns}>
    {entries.map(entry => (
      <Row key={entry.id} entry={entry} />
    ))}
  </Table>
)

interface ChoiceProps {
  readonly id: string
  readonly label: string
  readonly value: boolean
  readonly set: (value: boolean) => void
}

const Choice = ({ id, label, value, set }: ChoiceProps) => (
  <span class="choice">
    <input
      id={id}
      type="checkbox"
      checked={value}
      onChange={({ currentTarget }) => set(currentTarget.checked)}
    />
    <label for={id}>{label}</label>
  </span>
)

/** Reads by this console: each is an entry, which would fill the page of somebody who watches. */
const watching = ['listLogs', 'getStatus', 'getStatusHistory']
const isReading = ({ operation }: LogEntry): boolean => watching.includes(operation)

export function LogScreen() {
  const isFollowed = useSignal(false)
  const hidesReading = useSignal(true)
  const starts = logStarts.value
  const query = { ...logFilters.value, size: rowsMax, start: starts.at(-1) ?? '' }
  const { asked, again } = useAnswer<LogList>({ path: withQueryOf('/logs', query) })
  useEffect(
    () => (isFollowed.value ? every(followMs, again) : undefined),
    [isFollowed.value, again],
  )
  return (
    <>
      <h1 tabIndex={-1}>Log</h1>
      <LogFilterForm />
      <p class="choices">
        <Choice
          id="follow"
          label="Follow"
          value={isFollowed.value}
          set={value => {
            isFollowed.value = value
            if (value) filterLog({})
          }}
        />
        <Choice
          id="hide-reading"
          label="Hide reads of the log and of the state"
          value={hidesReading.value}
          set={value => {
            hidesReading.value = value
          }}
        />
      </p>
      <Answer asked={asked.value} what="the log" again={again}>
        {({ data, pagination }) => {
          const shown = hidesReading.value ? data.filter(entry => !isReading(entry)) : data
          return (
            <>
              {shown.length === 0 ? (
                <Empty title="No entry here">
                  <p>
                    None fits these filters, or those on this page are reads of the log and of the
                    state: clear the filters, show the reads, or look at older entries.
                  </p>
                </Empty>
              ) : (
                <Rows entries={shown} />
              )}
              <Steps starts={logStarts} next={'next' in pagination ? pagination.next : undefined} />
            </>
          )
        }}
      </Answer>
    </>
  )
}
