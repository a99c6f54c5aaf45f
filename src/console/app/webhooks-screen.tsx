/**
 * Webhooks, what waits to be delivered to each, and what can be sent again.
 * @module
 */
import { useSignal, type Signal } from '@preact/signals'
import type { Webhook, WebhookList } from '../../client/interface.ts'
import { Action } from './actions.tsx'
import { Allowed } from './allowed.tsx'
import { useAnswer } from './asked.ts'
import { Facts } from './facts.tsx'
import { Instant } from './instant.tsx'
import { Answer, Empty } from './notices.tsx'
import { Deliveries } from './webhook-deliveries.tsx'
import { Id, Text } from './value.tsx'
import { pathTo } from './vault.ts'

interface ReplayProps {
  readonly path: string
  readonly onDone: () => void
}

/** The number of an entry is in the log. */
function Replay({ path, onDone }: ReplayProps) {
  const from = useSignal('')
  const id = `from-${path}`
  return (
    <form class="row end" onSubmit={event => event.preventDefault()} autocomplete="off">
      <div>
        <label for={id}>Send all again, from entry number</label>
        <input
          id={id}
          inputMode="numeric"
          required
          pattern="\d{1,15}"
          title="The number of an entry"
          placeholder="as in the log: 4711"
          value={from.value}
          autocomplete="off"
          onInput={({ currentTarget }) => {
            from.value = currentTarget.value
          }}
        />
      </div>
      <Action
        label="Replay"
        isLarge={true}
        isSubmit={true}
        confirm="Send all once more"
        effect="Its receiver gets every event from that entry on, also those that it has had."
        question={{ method: 'POST', path: `${path}/replay`, body: { from: Number(from.value) } }}
        onDone={onDone}
      />
    </form>
  )
}

interface Done {
  readonly id: string
  readonly text: string
}

interface HookProps {
  readonly webhook: Webhook
  /** The last action of all webhooks: in a narrow window its outcome lies over the screen. */
  readonly done: Signal<Done | undefined>
}

function Hook({ webhook, done }: HookProps) {
  const { id } = webhook
  const path = pathTo('/webhooks', id)
  const changes = useSignal(0)
  const tell = (text: string) => () => {
    done.value = { id, text }
    changes.value += 1
  }
  return (
    <section aria-label={`Webhook ${webhook.name}`}>
      <h2>
        <Text of={webhook.name} />{' '}
        <span class={`badge ${webhook.status === 'enabled' ? 'good' : 'bad'}`}>
          {webhook.status}
          {webhook.disabled_by !== undefined && `: ${webhook.disabled_by}`}
        </span>
      </h2>
      <Facts
        of={[
          ['Address', <Id of={webhook.url} />],
          ['Events', webhook.events.join(', ')],
          ['Made', <Instant of={String(webhook.created_at)} />],
        ]}
      />
      <Allowed by={['webhook:update']} does="send a test event or to send again">
        <div class="row end below">
          <Action
            label="Send a test event"
            isLarge={true}
            name={`to ${webhook.name}`}
            question={{ method: 'POST', path: `${path}/test` }}
            onDone={tell('A test event is on its way. Look again to see whether it arrived.')}
          />
          <Replay
            path={path}
            onDone={tell(
              'All from that entry on are on their way once more. Look again to see what waits.',
            )}
          />
        </div>
      </Allowed>
      <Deliveries
        path={path}
        changes={changes.value}
        done={done.value?.id === id ? done.value.text : undefined}
        onLook={() => {
          if (done.value?.id === id) done.value = undefined
        }}
        onSent={sequence => {
          tell(`Entry ${sequence} is on its way. Look again to see whether it arrived.`)()
        }}
        onGone={sequence => {
          tell(`Entry ${sequence} waits no more: it has arrived meanwhile.`)()
        }}
      />
    </section>
  )
}

export function WebhooksScreen() {
  const done = useSignal<Done | undefined>(undefined)
  const { asked, again } = useAnswer<WebhookList>({ path: '/webhooks' })
  return (
    <>
      <h1 tabIndex={-1}>Webhooks</h1>
      <Answer asked={asked.value} what="webhooks" again={again}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No webhooks">
              <p>
                <code>POST /webhooks</code> makes one, which is told what happens here.
              </p>
            </Empty>
          ) : (
            <>
              {data.map(webhook => (
                <Hook key={webhook.id} webhook={webhook} done={done} />
              ))}
            </>
          )
        }
      </Answer>
    </>
  )
}
