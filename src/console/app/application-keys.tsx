/**
 * The keys of an application: when they were made and used, one more, and the end of one. A new key
 * is shown once, as long as this screen stands.
 * @module
 */
import { useSignal } from '@preact/signals'
import type { ApplicationKey } from '../../client/interface.ts'
import { Action } from './actions.tsx'
import { Allowed } from './allowed.tsx'
import { useAnswer } from './asked.ts'
import { Instant } from './instant.tsx'
import { Answer, Empty } from './notices.tsx'
import { may } from './sitting.ts'
import { SecretOnce } from './secret-once.tsx'
import { actionIf, Table } from './table.tsx'
import { Id } from './value.tsx'
import { pathTo } from './vault.ts'

interface KeysProps {
  readonly path: string
  readonly keys: readonly ApplicationKey[]
  readonly again: () => void
}

const columns = ['Number', 'Id', 'Made', 'Expires', 'Last used']

const Rows = ({ path, keys, again }: KeysProps) => (
  <Table caption="Keys" columns={columns} {...actionIf('key:rotate', 'Revoke')}>
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
        <td data-label="Last used">
          <span class="whole">{key.last_used_on ?? 'never seen'}</span>
        </td>
        {may('key:rotate') && (
          <td data-label="">
            <Action
              label="Revoke"
              name={`key ${key.version}`}
              confirm="Revoke for good"
              effect="Whatever uses this key is refused at once, and it never works again."
              question={{ method: 'DELETE', path: pathTo(path, key.id) }}
              onDone={again}
              onGone={again}
            />
          </td>
        )}
      </tr>
    ))}
  </Table>
)

function Shown({ id }: { readonly id: string }) {
  const path = `${pathTo('/applications', id)}/keys`
  const { asked, again } = useAnswer<readonly ApplicationKey[]>({ path })
  const made = useSignal<string | undefined>(undefined)
  return (
    <>
      {/* Above the list, whose new row would move it out of view. */}
      {made.value !== undefined && (
        <SecretOnce secret={made.value}>
          <button
            type="button"
            class="primary"
            onClick={() => {
              made.value = undefined
            }}
          >
            I have copied it
          </button>
        </SecretOnce>
      )}
      <Answer asked={asked.value} what="its keys" again={again}>
        {keys => (
          <>
            {keys.length === 0 ? (
              <Empty title="No live key" />
            ) : (
              <Rows path={path} keys={keys} again={again} />
            )}
            {/* One at a time: the next would take the place of a key that is told once. */}
            {made.value === undefined && (
              <div class="below">
                <Allowed by={['key:rotate']} does="make or revoke one">
                  <Action<ApplicationKey>
                    label="Make one more key"
                    question={{ method: 'POST', path, body: {} }}
                    onDone={({ key }) => {
                      made.value = key
                      again()
                    }}
                  />
                </Allowed>
              </div>
            )}
          </>
        )}
      </Answer>
    </>
  )
}

export const ApplicationKeys = ({ id }: { readonly id: string }) => (
  <section aria-labelledby="keys-title">
    <h2 id="keys-title">Keys</h2>
    <Allowed by={['key:read']} does="see its keys">
      <Shown id={id} />
    </Allowed>
  </section>
)
