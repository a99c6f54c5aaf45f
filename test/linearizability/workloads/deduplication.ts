/**
 * Creates that deduplicate a few contents, and deletes: each content has one live token at most.
 * @module
 */
import type { Client } from '../client.ts'
import { pickWeighted, type OpenWorkload } from '../workload.ts'

const contents = ['c0', 'c1', 'c2']

interface Extras {
  readonly deduplicated?: boolean
}

export const openDeduplication: OpenWorkload = async ({ keys }) => {
  const key = keys.private
  let made = 0
  /** The id that was last answered for a content: most deletes and reads are of it. */
  const latest = new Map<string, string>()
  const ofLatest = (client: Client, content: string, op: 'get' | 'delete', method: string) => {
    const id = latest.get(content) ?? 'none'
    const path = `/tokens/${id}`
    return client.record({ part: content, op, in: { id }, method, path, question: { key } })
  }
  const operations = {
    async create(client: Client, content: string) {
      const id = `chosen-${(made += 1)}`
      const body = { id, type: 'token', data: content, deduplicate_token: true }
      const out = await client.record({
        part: content,
        op: 'create',
        in: { id },
        method: 'POST',
        path: '/tokens',
        question: { key, body },
        read(shown, status) {
          if (status !== 201) return {}
          const { deduplicated } = shown['_extras'] as Extras
          return { id: String(shown['id']), value: deduplicated === true ? 'deduplicated' : 'new' }
        },
      })
      if (out?.id !== undefined) latest.set(content, out.id)
    },
    get: (client: Client, content: string) => ofLatest(client, content, 'get', 'GET'),
    delete: (client: Client, content: string) => ofLatest(client, content, 'delete', 'DELETE'),
  }
  return {
    step(client) {
      const name = pickWeighted(client.draw, [
        [5, 'create'],
        [2, 'delete'],
        [2, 'get'],
      ] as const)
      return operations[name](client, contents[client.draw(contents.length)] ?? 'c0')
    },
    async finish(client) {
      for (const content of contents) {
        await operations.get(client, content)
        await operations.create(client, content)
      }
    },
  }
}
