/**
 * Compares messages that receivers took with the audit log.
 * @module
 */
import { join } from 'node:path'
import { leafOf } from '../../../src/audit/bundle.ts'
import { deliveriesKey } from '../../../src/audit/derived-keys.ts'
import { entriesFrom } from '../../../src/audit/read-log.ts'
import { withLog } from '../../../src/cli/audit/opened-log.ts'
import { hexOf } from '../../../src/lib/bytes.ts'
import { eventMarkBytes } from '../../../src/limits/work-limits.ts'
import { openLmdbStore } from '../../../src/store/lmdb/lmdb-store.ts'
import { encodeState } from '../../../src/webhooks/delivery-state.ts'
import { eventId, eventsOf } from '../../../src/webhooks/event-types.ts'
import { types, type Hook, type World } from './world.ts'

/** Events of the log by their ids, in its order: what each is about. */
export type Expected = ReadonlyMap<string, string>

const wanted: ReadonlySet<string> = new Set(types.map(type => `token.${type}`))

/** Reads the log beside its server, if one runs. */
export const readExpected = ({ home: { data } }: World): Promise<Expected> =>
  withLog({ data }, async log => {
    const expected = new Map<string, string>()
    for await (const { sequence, entry, salt, line } of entriesFrom(log, 0)) {
      const mark = hexOf(leafOf(salt, line).subarray(0, eventMarkBytes))
      for (const event of eventsOf(sequence, entry, mark)) {
        if (!wanted.has(event.type)) continue
        expected.set(eventId(event), `${event.id} ${event.type.slice('token.'.length)}`)
      }
    }
    return expected
  })

export const hasAll = ({ receiver }: Hook, expected: Expected): boolean =>
  receiver.taken.size >= expected.size

/** Says what is wrong with what a receiver took; it has had time for everything. */
export function faultsOf({ id, receiver }: Hook, expected: Expected): readonly string[] {
  const { taken, changed } = receiver
  const faults = changed.map(each => `${each} came with another text`)
  const lastOf = new Map<string, number>()
  for (const [event, about] of expected) {
    const found = taken.get(`${id}_${event}`)
    if (found === undefined) {
      faults.push(`${event} (${about}) did not arrive`)
      continue
    }
    if (found.about !== about) faults.push(`${event} is about ${found.about}, not ${about}`)
    const thing = about.slice(0, about.lastIndexOf(' '))
    if (found.at < (lastOf.get(thing) ?? -1)) faults.push(`${event} (${about}) was overtaken`)
    lastOf.set(thing, found.at)
  }
  const known = new Set([...expected.keys()].map(event => `${id}_${event}`))
  for (const message of taken.keys()) {
    if (!known.has(message)) faults.push(`${message} is not of the log`)
  }
  return faults
}

/** Writes down, in a stopped vault, that a webhook has got more than it has. */
export async function skipAhead({ home }: World, { id }: Hook, entries: number): Promise<void> {
  const store = await openLmdbStore({ path: join(home.data, 'store') })
  const { next: cursor } = await store.logRange()
  const state = { cursor: cursor + entries, ordersDone: 0, waiting: [], dead: [] }
  await store.write([{ derived: deliveriesKey(id), value: encodeState(state) }])
  await store.close()
}
