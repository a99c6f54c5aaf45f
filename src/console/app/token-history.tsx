/**
 * The history of one token by the audit log, if the key may read that.
 * @module
 */
import type { LogList } from '../../client/interface.ts'
import { useAnswer } from './asked.ts'
import { rowsMax } from './limits.ts'
import { Instant } from './instant.tsx'
import { Answer, Empty } from './notices.tsx'
import { StatedReason } from './value.tsx'
import { withQueryOf } from './vault.ts'

const question = (id: string) => ({
  path: withQueryOf('/logs', { entity_type: 'token', entity_id: id, size: rowsMax, start: '' }),
})

export function TokenHistory({ id }: { readonly id: string }) {
  const { asked, again } = useAnswer<LogList>(question(id))
  return (
    <section aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      <Answer asked={asked.value} what="its history" again={again}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No entry of the audit log is about it" />
          ) : (
            <ol class="history">
              {data.map(entry => (
                <li key={entry.id}>
                  <Instant of={String(entry.created_at)} /> {entry.message}
                  {entry.stated_reason !== undefined && <StatedReason of={entry.stated_reason} />}
                </li>
              ))}
            </ol>
          )
        }
      </Answer>
    </section>
  )
}
