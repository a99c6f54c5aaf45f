/**
 * Work of many clients on one thing at once: patches of one token, creates of one value.
 * @module
 */
import { pick } from '../draw.ts'
import { parseBody, send, write, type Client } from './client.ts'
import { countAcknowledged, report, takeOp, type EqualValue } from './ledger.ts'
import { emptyRegister } from './register.ts'
import type { Shown } from './values.ts'

const sharedCount = 8
/** A token has room for the metadata of half of the writers. */
const writerGroups = 2
/** Values per round that are created with deduplication. */
const valuesPerRound = 6

/** Makes the tokens that all writers share. */
export async function createShared(client: Client): Promise<void> {
  const { ledger, keys } = client
  for (let index = 0; index < sharedCount; index += 1) {
    const id = `shared-${index}`
    const body = { id, type: 'token', data: {} }
    const question = { key: keys.private, body }
    await send(client, { method: 'POST', path: '/tokens', question, status: 201 })
    ledger.shared.push({ id, writers: new Map() })
  }
}

/** Each writer has its own member, so that a lost update of any writer shows. */
export async function patchShared(client: Client): Promise<void> {
  const { ledger, keys, draw, index } = client
  const mine = ledger.shared.filter((_, at) => at % writerGroups === index % writerGroups)
  const shared = pick(draw, mine)
  if (shared === undefined) return
  const name = `writer ${index}`
  const register = shared.writers.get(name) ?? emptyRegister()
  shared.writers.set(name, register)
  const op = takeOp(ledger)
  const body = { data: { [name]: op }, metadata: { [name]: String(op) } }
  const question = { key: keys.private, body }
  const request = { method: 'PATCH', path: `/tokens/${shared.id}`, question, status: 200 }
  await write(client, { kind: 'update of a shared token', register, version: op }, request)
}

export const equalBody = ({ value }: EqualValue) => ({
  type: 'token',
  data: { equal: value },
  metadata: { equal: String(value) },
  deduplicate_token: true,
})

/** Several clients create the same value; every answer must return the same token. */
export async function createEqual(client: Client): Promise<void> {
  const { ledger, keys, draw } = client
  const { round } = ledger
  const value = round * valuesPerRound + draw(valuesPerRound)
  const equal = ledger.equals.get(value) ?? { value, round }
  ledger.equals.set(value, equal)
  const question = { key: keys.private, body: equalBody(equal) }
  const answer = await send(client, { method: 'POST', path: '/tokens', question, status: 201 })
  if (answer.status !== 201) return
  countAcknowledged(ledger, 'create with deduplication')
  const { id } = parseBody<Shown>(answer)
  if (equal.id !== undefined && equal.id !== id) {
    report(ledger, 'ghost', `two tokens of the value ${value}`)
  }
  equal.id = id
}
