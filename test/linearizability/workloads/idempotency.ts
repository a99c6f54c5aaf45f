/**
 * Creates under idempotency keys, sent again where no answer came, and now and then with another
 * body: each key makes one token, and every success of it tells the same id.
 * @module
 */
import type { Body, Client } from '../client.ts'
import type { Output } from '../history.ts'
import { pickWeighted, type OpenWorkload } from '../workload.ts'
import { readPage } from './sets.ts'

const slots = 3
/** A key is left after so many requests. */
const requestsPerKey = 12
const retriesMax = 5

interface Slot {
  readonly name: string
  readonly credential: string
  used: number
}

/** Why it was refused: the texts of `src/http/idempotency.ts`. */
function reasonOf({ detail }: Body): string {
  const text = String(detail)
  return ['under way', 'another body'].find(reason => text.includes(reason)) ?? text
}

const readCreate = (body: Body, status: number): Omit<Output, 'status'> =>
  status === 201 ? { id: String(body['id']) } : status === 409 ? { reason: reasonOf(body) } : {}

export const openIdempotency: OpenWorkload = async ({ keys, draw }) => {
  const used: Slot[] = []
  const newSlot = (): Slot => {
    const credential = draw(2) === 0 ? keys.private : keys.public
    const slot = { name: `i${used.length}`, credential, used: 0 }
    used.push(slot)
    return slot
  }
  const current = Array.from({ length: slots }, newSlot)
  const create = (client: Client, { name, credential }: Slot, value: string) =>
    client.record({
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
  const list = (client: Client, { name }: Slot) =>
    client.record({
      part: name,
      op: 'list',
      method: 'GET',
      path: `/tokens?metadata.slot=${name}`,
      question: { key: keys.private },
      read: readPage,
    })
  const insistOn = async (client: Client, slot: Slot, body: string): Promise<void> => {
    for (let count = 0; count < retriesMax; count += 1) {
      if ((await create(client, slot, body)) !== undefined) return
    }
  }
  return {
    step(client) {
      const at = client.draw(slots)
      let slot = current[at] ?? newSlot()
      if (slot.used >= requestsPerKey) current[at] = slot = newSlot()
      slot.used += 1
      const kind = pickWeighted(client.draw, [
        [6, 'first'],
        [1, 'second'],
        [2, 'list'],
      ] as const)
      return kind === 'list' ? list(client, slot) : insistOn(client, slot, kind)
    },
    async finish(client) {
      for (const slot of used) await list(client, slot)
    },
  }
}
