/**
 * The audit log: filtered, followed, and each entry proved.
 * @module
 */
import { useSignal } from '@preact/signals'
import type { LogEntry } from '../../client/interface.ts'
import { nothing } from './asked.ts'
import { useFollowed } from './followed.ts'
import { rowsMax } from './limits.ts'
import { filterLog, isOfFilters, LogFilterForm, logFilters, logStarts } from './log-filters.tsx'
import { LogRows } from './log-rows.tsx'
import { Answer, Empty } from './notices.tsx'
import { Steps } from './steps.tsx'
import { withQueryOf } from './vault.ts'

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

interface ArrivedProps {
  /** Number of entries that wait, and whether they are the first of more. */
  readonly count: number
  readonly isMore: boolean
  readonly show: () => void
}

/** It lies over the head of the list, so that it moves no row. */
const Arrived = ({ count, isMore, show }: ArrivedProps) => (
  <div class="arrived" role="status">
    {count > 0 && (
      <button type="button" class="small" onClick={show}>
        {count}
        {isMore && ' or more'} new {count === 1 ? 'entry' : 'entries'}
      </button>
    )}
  </div>
)

export function LogScreen() {
  const isFollowed = useSignal(false)
  const hidesReading = useSignal(true)
  const starts = logStarts.value
  const query = { ...logFilters.value, size: rowsMax, start: starts.at(-1) ?? '' }
  const path = withQueryOf('/logs', query)
  const { asked, again, rows, ahead, show } = useFollowed(path, isFollowed.value)
  const seen = (entries: readonly LogEntry[]) =>
    hidesReading.value ? entries.filter(entry => !isReading(entry)) : entries
  const { value } = asked
  const errors = value.state === 'refused' ? value.refusal.errors : undefined
  return (
    <>
      <h1 tabIndex={-1}>Log</h1>
      <LogFilterForm errors={errors} />
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
      <Answer asked={isOfFilters(errors) ? nothing : value} what="the log" again={again}>
        {({ data, pagination }) => {
          const shown = seen(data)
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
                <div ref={rows} class="followed">
                  <Arrived
                    count={seen(ahead).length}
                    isMore={ahead.length === rowsMax}
                    show={show}
                  />
                  <LogRows entries={shown} />
                </div>
              )}
              <Steps starts={logStarts} next={'next' in pagination ? pagination.next : undefined} />
            </>
          )
        }}
      </Answer>
    </>
  )
}
