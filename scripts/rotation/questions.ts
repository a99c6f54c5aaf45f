/**
 * Requests to a data set while its keys change, with their required answers: reads of tokens as
 * they were at first, searches whose totals follow from the making of the set.
 * @module
 */
import type { Answer } from '../../test/support/connection.ts'
import type { Connection } from '../../test/support/connection.ts'
import type { Facts } from '../seed/facts.ts'
import type { Random } from '../seed/random.ts'
import type { Question } from './rate.ts'

const readsMax = 2_000
const probes = 200

/** Text of a token by its path, as first read. */
type Texts = ReadonlyMap<string, string>

async function expectAnswer(
  connection: Connection,
  { method, path, key, body }: Omit<Question, 'judge'>,
  status: number,
): Promise<Answer> {
  const answer = await connection.ask(method, path, { key, body })
  if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status}`)
  return answer
}

export async function readTexts(connection: Connection, facts: Facts): Promise<Texts> {
  const texts = new Map<string, string>()
  for (const id of facts.cardIds.slice(0, readsMax)) {
    const asked = { method: 'GET', path: `/tokens/${id}`, key: facts.keys.reveal }
    texts.set(asked.path, (await expectAnswer(connection, asked, 200)).text)
  }
  return texts
}

/** Ids of tokens by a value that only one token has. */
export async function makeProbes(
  connection: Connection,
  { keys }: Facts,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  for (let n = 0; n < probes; n += 1) {
    const data = `probe ${n} of ${Date.now()}`
    const body = { type: 'token', data, search_indexes: ['{{ data }}'] }
    const asked = { method: 'POST', path: '/tokens', key: keys.reveal, body }
    const { text } = await expectAnswer(connection, asked, 201)
    ids.set(data, (JSON.parse(text) as { id: string }).id)
  }
  return ids
}

export function readsOf(texts: Texts, { keys }: Facts, random: Random): () => Question {
  const [first = '', ...others] = texts.keys()
  const judge = (path: string) => (answer: Answer) => {
    if (answer.status !== 200) return `read answered ${answer.status}`
    return answer.text === texts.get(path) ? undefined : 'read of another text'
  }
  return () => {
    const path = random.pick([first, ...others])
    return { method: 'GET', path, key: keys.reveal, judge: judge(path) }
  }
}

interface Found {
  readonly pagination: { readonly total_items: number }
  readonly data: readonly { readonly id: string }[]
}

/** @param id of the token that must be found, if it is the only one */
const judgeFound = (total: number, id?: string) => (answer: Answer) => {
  if (answer.status !== 200) return `search answered ${answer.status}`
  const { pagination, data } = JSON.parse(answer.text) as Found
  if (id !== undefined && data[0]?.id !== id) return 'missed search'
  return pagination.total_items === total ? undefined : 'wrong total'
}

/** Alternates between searches for one token, for many, and by two conditions. */
export function searchesOf(
  probeIds: ReadonlyMap<string, string>,
  facts: Facts,
  random: Random,
): () => Question {
  const { keys, half, tenth, both, rare, container } = facts
  const search = (query: string, total: number, id?: string): Question => {
    const body = { query, size: 1 }
    const asked = { method: 'POST', path: '/tokens/search', key: keys.reveal, body }
    return { ...asked, judge: judgeFound(total, id) }
  }
  const list = (query: string, total: number): Question => {
    const asked = { method: 'GET', path: `/tokens?${query}&size=1`, key: keys.reveal }
    return { ...asked, judge: judgeFound(total) }
  }
  const pair = ({ name, value }: Facts['half']) => `metadata.${name}:${value}`
  const known = [...probeIds]
  const [first = ['', '']] = known
  const kinds: readonly [() => Question, ...(() => Question)[]] = [
    () => search(pair(half), half.tokens),
    () => search(`${pair(half)} AND ${pair(tenth)}`, both),
    () => search(pair(rare), rare.tokens),
    () => list(`container=${container.path}`, container.tokens),
  ]
  let turn = 0
  return () => {
    turn += 1
    if (turn % 2 === 0) return random.pick(kinds)()
    const [data, id] = known[random.integer(known.length)] ?? first
    return search(`data:"${data}"`, 1, id)
  }
}
