/**
 * Checks that lists and searches agree with the tokens, and show nothing that was never begun.
 * @module
 */
import { pick } from '../draw.ts'
import { parseBody, type Client } from './client.ts'
import { report, type Ledger, type Token } from './ledger.ts'
import { observe } from './check-tokens.ts'
import { types, type Shown } from './values.ts'

const pageSizeMax = 100
const idsPerList = 50

interface List {
  readonly pagination: { readonly total_items?: number; readonly next?: string }
  readonly data: readonly Shown[]
}

const isLive = ({ register, expiresAtMs }: Token): boolean =>
  register.acknowledged !== undefined && expiresAtMs === undefined

async function readList(client: Client, query: string): Promise<List> {
  const { keys, connection } = client
  return parseBody<List>(await connection.ask('GET', `/tokens?${query}`, { key: keys.private }))
}

/** Each listed token is in the ledger, at its current version. */
function checkShown(ledger: Ledger, shown: Shown): void {
  const token = ledger.tokens.get(shown.id)
  if (token !== undefined) observe(ledger, token, shown)
  else report(ledger, 'ghost', `token ${shown.id} was never begun`)
}

async function expectTotal(client: Client, query: string, expected: number): Promise<void> {
  const { ledger } = client
  const { pagination, data } = await readList(client, `${query}&size=${pageSizeMax}`)
  ledger.checked += 1
  if (pagination.total_items !== expected) {
    const found = `${pagination.total_items} of ${expected} tokens`
    report(ledger, 'wrong answer', `the list by ${query} counts ${found}`)
  }
  for (const shown of data) checkShown(ledger, shown)
}

/** Lists the tokens that a round made or changed last by metadata, then by type as well. */
export async function checkRound(
  client: Client,
  round: number,
  touched: readonly Token[],
): Promise<void> {
  const standing = touched.filter(token => isLive(token) && token.round === round)
  await expectTotal(client, `metadata.round=${round}`, standing.length)
  const type = pick(client.draw, types)
  const query = `metadata.round=${round}&type=${type}`
  await expectTotal(client, query, standing.filter(token => token.type === type).length)
}

/** Lists tokens by id: exactly the existing ones come back. */
export async function checkIds(client: Client, touched: readonly Token[]): Promise<void> {
  const asked = touched.filter(token => token.expiresAtMs === undefined).slice(0, idsPerList)
  if (asked.length === 0) return
  const query = asked.map(({ id }) => `id=${id}`).join('&')
  await expectTotal(client, query, asked.filter(isLive).length)
}

/** Searches by an index: finds the one token that holds this operation. */
export async function checkSearch(client: Client, touched: readonly Token[]): Promise<void> {
  const { ledger, keys, connection, draw } = client
  const indexed = touched.filter(token => token.type === 'token' && isLive(token))
  const token = pick(draw, indexed)
  if (token === undefined) return
  const query = `data:${token.register.acknowledged} AND metadata.round:${token.round}`
  const question = { key: keys.private, body: { query } }
  const { data } = parseBody<List>(await connection.ask('POST', '/tokens/search', question))
  ledger.checked += 1
  const ids = data.map(({ id }) => id)
  if (ids.length === 1 && ids[0] === token.id) return
  report(ledger, 'wrong answer', `the search for token ${token.id} finds ${ids.length}`)
}

/** Walks all tokens, page by page: every existing token is there, and nothing else. */
export async function walkAll(client: Client): Promise<void> {
  const { ledger } = client
  const standing = new Set(ledger.live.map(({ id }) => id))
  const known = new Set([...ledger.equals.values()].map(({ id }) => id))
  for (const { id } of ledger.shared) known.add(id)
  let start: string | undefined = ''
  while (start !== undefined) {
    const { pagination, data } = await readList(client, `size=${pageSizeMax}&start=${start}`)
    for (const shown of data) {
      const isNew = standing.delete(shown.id)
      if (!known.has(shown.id)) checkShown(ledger, shown)
      if (
        !isNew &&
        ledger.tokens.get(shown.id)?.expiresAtMs === undefined &&
        !known.has(shown.id)
      ) {
        report(ledger, 'ghost', `token ${shown.id} is listed, and should not stand`)
      }
    }
    start = pagination.next
  }
  for (const id of standing) report(ledger, 'lost', `token ${id} is in no list`)
}
