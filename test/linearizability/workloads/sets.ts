/**
 * Tokens of one tag as a set: added and removed while lists and searches by the tag must show
 * exactly its members.
 * @module
 */
import { takeAny } from '../../crash/draw.ts'
import type { Client, Body } from '../client.ts'
import { pickWeighted, type OpenWorkload } from '../workload.ts'

const tags = ['t0', 't1', 't2', 't3']
const pageSize = 100

/** Reads the members of a page that the checker compares. */
export function readPage(body: Body, status: number) {
  if (status !== 200) return {}
  const { pagination, data } = body as {
    readonly pagination: { readonly total_items: number }
    readonly data: readonly { readonly id: string }[]
  }
  return { ids: data.map(({ id }) => id), total: pagination.total_items }
}

const newSet = () => ({ made: 0, members: [] as string[] })

export const openSets: OpenWorkload = async ({ keys }) => {
  const key = keys.private
  const sets = new Map(tags.map(tag => [tag, newSet()]))
  const operations = {
    async create(client: Client, tag: string) {
      const set = sets.get(tag) ?? newSet()
      const id = `${tag}-${(set.made += 1)}`
      const question = { key, body: { id, type: 'token', data: 1, metadata: { tag } } }
      const method = 'POST'
      const path = '/tokens'
      await client.record({ part: tag, op: 'create', in: { id }, method, path, question })
      set.members.push(id)
    },
    async delete(client: Client, tag: string) {
      const id = takeAny(client.draw, sets.get(tag)?.members ?? [])
      if (id === undefined) return
      const path = `/tokens/${id}`
      const question = { key }
      const method = 'DELETE'
      const sent = { part: tag, op: 'delete', in: { id }, method, path, question }
      const out = await client.record(sent)
      if (out === undefined) await client.record(sent)
    },
    list: (client: Client, tag: string) =>
      client.record({
        part: tag,
        op: 'list',
        method: 'GET',
        path: `/tokens?metadata.tag=${tag}&size=${pageSize}`,
        question: { key },
        read: readPage,
      }),
    search: (client: Client, tag: string) =>
      client.record({
        part: tag,
        op: 'list',
        method: 'POST',
        path: '/tokens/search',
        question: { key, body: { query: `metadata.tag:${tag}`, size: pageSize } },
        read: readPage,
      }),
  }
  return {
    step(client) {
      const name = pickWeighted(client.draw, [
        [3, 'create'],
        [2, 'delete'],
        [2, 'list'],
        [2, 'search'],
      ] as const)
      return operations[name](client, tags[client.draw(tags.length)] ?? 't0')
    },
    async finish(client) {
      for (const tag of tags) {
        await operations.list(client, tag)
        await operations.search(client, tag)
      }
    },
  }
}
