/**
 * The keys of an application: when they were made and used, one more, and the end of one. A new key
 * is shown once, as long as this screen stands.
 * @module
 */
import { useSignal } from '@preact/signals'
import type { ApplicationKey } from '../../client/interface.ts'
import { Action } from './actions.tsx'
import { useAnswer } from './asked.ts'
import { Instant } from './instant.tsx'
import { Answer, Empty } from './notices.tsx'
import { Table } from './table.tsx'
import { Id } from './value.tsx'
import { pathTo } from './vault.ts'

interface KeysProps {
  readonly path: string
  readonly keys: readonly ApplicationKey[]
  readonly again: () => void
}

const columns = ['Number', 'Id', 'Made', 'Expires', 'Last used']

const Rows = ({ path, keys, again }: KeysProps) => (
  <Table caption="Keys" columns={columns} action="Revoke">
    {keys.map(key => (
      <tr key={key.id}>
        <th scope="row" data-label="Number">
          key {key.version}
        </th>
        <td data-label="Id">
          <Id of={key.id} />
        </td>
        <td data-label="Made">{key.created_at && <Instant of={String(key.created_at)} />}</td>
        <td data-label="Expires">
          {key.expires_at ? <Instant of={String(key.expires_at)} /> : 'never'}
        </td>
        <td data-label="Last used">{key.last_used_on ?? 'never seen'}</td>
        <td data-label="">
          <Action
            label="Revoke"
            name={`key ${key.version}`}
            confirm="Revoke for good"
            question={{ method: 'DELETE', path: pathTo(path, key.id) }}
            onDone={again}
          />
        </td>
      </tr>
    ))}
  </Table>
)

const Made = ({ secret }: { readonly secret: string }) => (
  <div class="notice done" role="status">
    <p class="title">The new key, shown this once</p>
    <p class="secret">
      <Id of={secret} />
    </p>
    <p>Copy it to where it is used. It is gone from here when you leave this screen.</p>
  </div>
)

export function ApplicationKeys({ id }: { readonly id: string }) {
  const path = `${pathTo('/applications', id)}/keys`
  const { asked, again } = useAnswer<readonly ApplicationKey[]>({ path })
  const made = useSignal<string | undefined>(undefined)
  return (
    <section aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <Answer asked={asked.value} what="its keys" again={again}>
        {keys => (
          <>
            {keys.length === 0 ? (
              <Empty title="No live key" />
            ) : (
              <Rows path={path} keys={keys} again={again} />
            )}
            <p class="below">
              <Action<ApplicationKey>
                label="Make one more key"
                question={{ method: 'POST', path, body: {} }}
                onDone={({ key }) => {
                  made.value = key
                  again()
                }}
              />
            </p>
          </>
        )}
      </Answer>
      {made.value !== undefined && <Made secret={made.value} />}
    </section>
  )
}
