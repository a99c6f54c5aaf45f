/**
 * Creates under idempotency keys, sent again where no answer came, and now and then with another
 * body or after their token was deleted: each key makes one token, and tells no other id.
 * @module
 */
import type { Keys } from '../../crash/clients/client.ts'
import type { Body, Client } from '../client.ts'
import type { Output } from '../history.ts'
import { pickWeighted, type OpenWorkload } from '../workload.ts'
import { readPage } from './sets.ts'

const slots = 3
/** Requests with a key before it is left. */
const requestsPerKey = 12
const retriesMax = 5

interface Slot {
  readonly name: string
  readonly credential: string
  used: number
  /** Id in its last answer. */
  id?: string
}

/** Why it was refused: the texts of `src/http/idempotency.ts`. */
function reasonOf({ detail }: Body): string {
  const text = String(detail)
  return ['under way', 'another body'].find(reason => text.includes(reason)) ?? text
}

const readCreate = (body: Body, status: number): Omit<Output, 'status'> =>
  status === 201 ? { id: String(body['id']) } : status === 409 ? { reason: reasonOf(body) } : {}

/** The requests about one key. */
function operationsOf(keys: Keys) {
  const create = async (client: Client, slot: Slot, value: string) => {
    const { name, credential } = slot
    const out = await client.record({
      part: name,
      op: 'create',
      in: { value },
      method: 'POST',
      path: '/tokens',
      question: {
        key: credential,
        body: { type: 'token', data: value, metadata: { slot: name } },
        headers: { 'svc-idempotency-key': name },
      },
      read: readCreate,
    })
    if (out?.id !== undefined) slot.id = out.id
    return out
  }
  const remove = (client: Client, { name, id = 'none' }: Slot) =>
    client.record({
      part: name,
      op: 'delete',
      in: { id },
      method: 'DELETE',
      path: `/tokens/${id}`,
      question: { key: keys.private },
    })
  const list = (client: Client, { name }: Slot) =>
    client.record({
      part: name,
      op: 'list',
      method: 'GET',
      path: `/tokens?metadata.slot=${name}`,
      question: { key: keys.private },
      read: readPage,
    })
  return { create, remove, list }
}

export const openIdempotency: OpenWorkload = async ({ keys, draw }) => {
  const used: Slot[] = []
  const newSlot = (): Slot => {
    const credential = draw(2) === 0 ? keys.private : keys.public
    const slot: Slot = { name: `i${used.length}`, credential, used: 0 }
    used.push(slot)
    return slot
  }
  const current = Array.from({ length: slots }, newSlot)
  const { create, remove, list } = operationsOf(keys)
  const insistOn = async (client: Client, slot: Slot, body: string): Promise<void> => {
    for (let count = 0; count < retriesMax; count += 1) {
      if ((await create(client, slot, body)) !== undefined) return
    }
  }
  /** A kill is only of interest at the first request of a key, so half of them are. */
  const insistTwice = async (client: Client): Promise<void> => {
    const slot = newSlot()
    await insistOn(client, slot, 'first')
    await insistOn(client, slot, 'first')
  }
  return {
    step(client) {
      if (client.draw(2) === 0) return insistTwice(client)
      const at = client.draw(slots)
      let slot = current[at] ?? newSlot()
      if (slot.used >= requestsPerKey) current[at] = slot = newSlot()
      slot.used += 1
      const kind = pickWeighted(client.draw, [
        [6, 'first'],
        [1, 'second'],
        [2, 'list'],
        [slot.used > requestsPerKey / 2 ? 1 : 0, 'delete'],
      ] as const)
      if (kind === 'delete') return remove(client, slot)
      return kind === 'list' ? list(client, slot) : insistOn(client, slot, kind)
    },
    async finish(client) {
      for (const slot of used) await list(client, slot)
    },
  }
}
