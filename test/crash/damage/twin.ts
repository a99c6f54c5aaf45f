/**
 * Compares the answers of a server on a damaged vault with those of one on an undamaged twin.
 * @module
 */
import type { Draw } from '../draw.ts'
import { pick } from '../draw.ts'
import { ask, elementsOf, type Question, type Target } from './stored-vault.ts'

export interface Compared {
  /** Answers equal to those of the twin. */
  readonly right: number
  /** Answers with a status of 5xx. */
  readonly errors: number
  /** Tokens answered with 404, and lists that lack some. */
  readonly missing: number
  /** Answers that differ from the stored contents, and broken connections. */
  readonly failures: readonly string[]
}

type Asked = Pick<Question, 'method' | 'path' | 'body' | 'isList'>

const verdicts = ['right', 'error', 'missing']
const listSize = 20
const drawnIds = 10
/** The applications take the ordinals before it. */
const ordinalOfFirst = 6

async function isStored(twin: Target, element: string): Promise<boolean> {
  const { id } = JSON.parse(element) as { id: string }
  const response = await ask(twin, { method: 'GET', path: `/tokens/${id}` })
  return response.status === 200 && (await response.text()) === element
}

async function compare(twin: Target, damaged: Target, asked: Asked): Promise<string> {
  const wanted = await (await ask(twin, asked)).text()
  let status: number
  let text: string
  try {
    const response = await ask(damaged, asked)
    status = response.status
    text = await response.text()
  } catch (error) {
    return `${asked.method} ${asked.path}: no answer: ${String(error)}`
  }
  if (status === 200 && text === wanted) return 'right'
  if (status >= 500) return 'error'
  if (status === 404) return 'missing'
  const isShort =
    status === 200 &&
    asked.isList === true &&
    (await Promise.all(elementsOf(text).map(element => isStored(twin, element)))).every(Boolean)
  return isShort ? 'missing' : `${asked.method} ${asked.path}: wrong answer: ${status}`
}

const getToken = (id: string): Asked => ({ method: 'GET', path: `/tokens/${id}` })

const list = (page: number): Asked => ({
  method: 'GET',
  path: `/tokens?size=${listSize}&page=${page}`,
  isList: true,
})

/** Lists show the newest tokens first. */
function pagesOf(ordinals: readonly number[], tokens: number): number[] {
  const pageOf = (ordinal: number): number => {
    const fromNewest = tokens - 1 - (ordinal - ordinalOfFirst)
    return Math.max(1, Math.min(tokens / listSize, Math.floor(fromNewest / listSize) + 1))
  }
  return [...new Set(ordinals.map(pageOf))].slice(0, 2)
}

async function questionsOf(
  twin: Target,
  { cardIds, tokens }: { readonly cardIds: readonly string[]; readonly tokens: number },
  ordinals: readonly number[],
  draw: Draw,
): Promise<Asked[]> {
  const lists = [1, ...pagesOf(ordinals, tokens)].map(list)
  const ids = Array.from({ length: drawnIds }, () => pick(draw, cardIds) ?? '')
  for (const asked of lists.slice(1)) {
    const elements = elementsOf(await (await ask(twin, asked)).text())
    ids.push(...elements.map(element => (JSON.parse(element) as { id: string }).id))
  }
  const search = { method: 'POST', path: '/tokens/search', isList: true } as const
  const filtered = { method: 'GET', isList: true } as const
  return [
    ...ids.map(getToken),
    ...lists,
    { ...filtered, path: `/tokens?size=${listSize}&metadata.region=europe` },
    { ...filtered, path: `/tokens?size=${listSize}&type=card&page=3` },
    { ...search, body: { query: `id:${ids[0] ?? ''}`, size: listSize } },
    { ...search, body: { query: 'metadata.region:europe', size: listSize } },
  ]
}

/** Creates and reads a token. @returns the failure, if any */
async function create(damaged: Target): Promise<string | undefined> {
  const body = { type: 'token', data: 'new' }
  const made = await ask(damaged, { method: 'POST', path: '/tokens', body })
  if (made.status >= 500) return undefined
  if (made.status !== 201) return `POST /tokens: ${made.status}`
  const { id } = (await made.json()) as { id: string }
  const response = await ask(damaged, getToken(id))
  const { data } = (await response.json()) as { data?: unknown }
  return data === 'new' ? undefined : `GET of a new token: ${response.status}`
}

/** @param ordinals of rows that may be damaged */
export async function compareWithTwin(
  twin: Target,
  damaged: Target,
  facts: { readonly cardIds: readonly string[]; readonly tokens: number },
  ordinals: readonly number[],
  draw: Draw,
): Promise<Compared> {
  const questions = await questionsOf(twin, facts, ordinals, draw)
  const found = await Promise.all(questions.map(asked => compare(twin, damaged, asked)))
  const created = await create(damaged).catch(error => `POST /tokens: no answer: ${String(error)}`)
  const count = (what: string): number => found.filter(text => text === what).length
  const wrong = found.filter(text => !verdicts.includes(text))
  return {
    right: count('right'),
    errors: count('error'),
    missing: count('missing'),
    failures: created === undefined ? wrong : [...wrong, created],
  }
}
