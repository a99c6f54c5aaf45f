/**
 * Deliveries to one webhook that wait for their next attempt, or were given up.
 * @module
 */
import { useEffect } from 'preact/hooks'
import type { WebhookDelivery, WebhookDeliveryList } from '../../client/interface.ts'
import { Action } from './actions.tsx'
import { useAnswer } from './asked.ts'
import { rowsMax } from './limits.ts'
import { Instant } from './instant.tsx'
import { Answer } from './notices.tsx'
import { Reason } from './reason.tsx'
import { may } from './sitting.ts'
import { actionIf, Table } from './table.tsx'
import { withQueryOf } from './vault.ts'

/** A failure is a word of the vault's, or the status that the receiver answered. */
const Failure = ({ of }: { readonly of: string }) =>
  /^\d{3}$/.test(of) ? <>answered {of}</> : <Reason of={of} />

const columns = ['Event', 'Entry', 'State', 'Attempts', 'Failure', 'Next attempt']

/** Instant 0 is that of a delivery which was asked for by hand. */
const Next = ({ of }: { readonly of: string }) =>
  Date.parse(of) === 0 ? <>at once</> : <Instant of={of} />

interface RowProps {
  readonly path: string
  readonly delivery: WebhookDelivery
  readonly onSent: (sequence: number) => void
  /** Called with an entry that waits no more: it has arrived meanwhile. */
  readonly onGone: (sequence: number) => void
}

const Row = ({ path, delivery, onSent, onGone }: RowProps) => (
  <tr>
    <th scope="row" data-label="Event">
      {delivery.type ?? 'webhook.test'}
    </th>
    <td data-label="Entry">{delivery.sequence}</td>
    <td data-label="State">{delivery.status === 'dead' ? 'given up' : 'waiting'}</td>
    <td data-label="Attempts">{delivery.attempts}</td>
    <td data-label="Failure">
      {delivery.failure !== undefined && <Failure of={delivery.failure} />}
    </td>
    <td data-label="Next attempt">
      {delivery.next_attempt_at && <Next of={String(delivery.next_attempt_at)} />}
      {delivery.attempts === 0 && 'in its turn'}
    </td>
    {may('webhook:update') && (
      <td data-label="">
        <Action
          label="Send now"
          name={`entry ${delivery.sequence}`}
          question={{ method: 'POST', path: `${path}/deliveries/${delivery.sequence}/retry` }}
          onDone={() => onSent(delivery.sequence)}
          onGone={() => onGone(delivery.sequence)}
        />
      </td>
    )}
  </tr>
)

interface DeliveriesProps extends Pick<RowProps, 'onSent' | 'onGone'> {
  /** Path of the webhook. */
  readonly path: string
  /** Number of changes that were made here: each has the list read anew. */
  readonly changes: number
  /** Tells of the last action, beside the head of the list: a line of its own would move rows. */
  readonly done: string | undefined
  readonly onLook: () => void
}

export function Deliveries({ path, changes, done, onLook, ...rest }: DeliveriesProps) {
  const question = { path: withQueryOf(`${path}/deliveries`, { page: 1, size: rowsMax }) }
  const { asked, again } = useAnswer<WebhookDeliveryList>(question)
  useEffect(() => {
    if (changes > 0) again()
  }, [changes, again])
  return (
    <Answer asked={asked.value} what="its deliveries" again={again}>
      {({ data, pagination }) => (
        <>
          <div class="row end below deliveries">
            <h3>
              {data.length === 0
                ? 'Nothing waits for delivery'
                : `${pagination.total_items.toLocaleString('en')} not delivered`}
            </h3>
            <button
              type="button"
              class="small"
              onClick={() => {
                onLook()
                again()
              }}
            >
              Look again
            </button>
            <p role="status">{done}</p>
          </div>
          {data.length > 0 && (
            <Table
              caption="Deliveries"
              columns={columns}
              {...actionIf('webhook:update', 'Send now')}
            >
              {data.map(delivery => (
                <Row key={delivery.event_id} path={path} delivery={delivery} {...rest} />
              ))}
            </Table>
          )}
        </>
      )}
    </Answer>
  )
}
