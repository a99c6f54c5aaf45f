/**
 * Operations on sessions, beside their routes.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { findLiveApplication } from '../../applications/find-key-caller.ts'
import { pageSizeMax } from '../../limits/limits.ts'
import { ownOrdinal } from '../../limits/work-limits.ts'
import { listSessions } from '../../sessions/list.ts'
import { endSession } from '../../sessions/session-service.ts'
import { operation, type Administered, type Facts, type Operations } from './operator-operation.ts'
import { actingBy } from './operator.ts'

const tenant = Type.Optional(Type.String())

const ended = Type.Object({ tenant, id: Type.String() })

export const sessionOperations = ({ deps: plain }: Administered): Operations => {
  const deps = { ...plain, findApplication: findLiveApplication.bind(undefined, plain) }
  return {
    'session-list': operation('session:read', Type.Object({ tenant }), ({ tenant: asked }, _, by) =>
      actingBy(deps, by, asked, async caller => {
        const sessions: Facts[] = []
        for (let start = ''; ;) {
          const walk = { start, at: 'start', size: pageSizeMax }
          const { items, next } = await listSessions(deps, caller, walk)
          sessions.push(...items.map(item => JSON.parse(item) as Facts))
          if (next === undefined) return { sessions }
          start = next
          await deps.turns.next(ownOrdinal)
        }
      }),
    ),
    'session-end': operation('session:delete', ended, ({ tenant: asked, id }, _, by) =>
      actingBy(deps, by, asked, async caller => {
        await endSession(deps, caller, id)
        return { session_id: id, ended: true }
      }),
    ),
  }
}
