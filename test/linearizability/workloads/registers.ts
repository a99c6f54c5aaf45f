/**
 * Tokens of chosen ids as registers: made, changed, read and deleted by all clients at once.
 * @module
 */
import type { Client, Body } from '../client.ts'
import { pickWeighted, type OpenWorkload } from '../workload.ts'

const registers = ['register-0', 'register-1', 'register-2', 'register-3']

export const openRegisters: OpenWorkload = async ({ keys }) => {
  let values = 0
  const key = keys.private
  const next = () => `v${(values += 1)}`
  const shown = ({ data }: Body, status: number) => (status === 200 ? { value: String(data) } : {})
  const operations = {
    create(client: Client, id: string) {
      const value = next()
      const question = { key, body: { id, type: 'token', data: value } }
      return client.record({
        part: id,
        op: 'create',
        in: { value },
        method: 'POST',
        path: '/tokens',
        question,
      })
    },
    patch(client: Client, id: string) {
      const value = next()
      const question = { key, body: { data: value } }
      const path = `/tokens/${id}`
      return client.record({
        part: id,
        op: 'patch',
        in: { value },
        method: 'PATCH',
        path,
        question,
      })
    },
    get: (client: Client, id: string) =>
      client.record({
        part: id,
        op: 'get',
        method: 'GET',
        path: `/tokens/${id}`,
        question: { key },
        read: shown,
      }),
    delete: (client: Client, id: string) =>
      client.record({
        part: id,
        op: 'delete',
        method: 'DELETE',
        path: `/tokens/${id}`,
        question: { key },
      }),
  }
  return {
    step(client) {
      const name = pickWeighted(client.draw, [
        [3, 'create'],
        [4, 'patch'],
        [5, 'get'],
        [1, 'delete'],
      ] as const)
      return operations[name](client, registers[client.draw(registers.length)] ?? 'register-0')
    },
    async finish(client) {
      for (const id of registers) await operations.get(client, id)
    },
  }
}
