/**
 * Lists and searches during changes of keys, over tokens that no other client touches: each total
 * is known, so every answer must have it.
 * @module
 */
import { parseBody, send, type Client } from '../clients/client.ts'
import { addToken, report, takeOp, type Ledger, type Token } from '../clients/ledger.ts'
import { acknowledge } from '../clients/register.ts'
import { connectClients, load, type Round, type Scene } from '../clients/scene.ts'
import { readWritten, type Shown } from '../clients/values.ts'
import { bodyOf } from '../clients/work-tokens.ts'
import { pick } from '../draw.ts'

const steadyCount = 120
const searchers = 2
const pageSize = 20
const restMsMax = 10
/** Beyond the end of a campaign: the checks of rounds leave out tokens that expire. */
const lifetimeMs = 24 * 60 * 60 * 1_000
const container = '/steady/'

export interface Steady {
  readonly tokens: readonly Token[]
  /** Number of answers compared. */
  answers: number
}

interface List {
  readonly pagination: { readonly total_items: number }
  readonly data: readonly Shown[]
}

/** Makes a token that no client takes: it is in none of the lists that they take from. */
async function createSteady(client: Client, op: number): Promise<Token> {
  const { ledger, keys } = client
  const token = addToken(ledger, `steady-${op}`, 'token')
  ledger.touched.delete(token)
  token.expiresAtMs = Date.now() + lifetimeMs
  const expiry = { expires_at: new Date(token.expiresAtMs).toISOString() }
  const body = { ...bodyOf(token, op, 0), containers: [container], ...expiry }
  const request = { method: 'POST', path: '/tokens', question: { key: keys.private, body } }
  await send(client, { ...request, status: 201 })
  acknowledge(token.register, op)
  return token
}

/** @param scene with a running server */
export async function makeSteady(scene: Scene): Promise<Steady> {
  const [client] = await connectClients(scene, 1)
  const tokens: Token[] = []
  while (client !== undefined && tokens.length < steadyCount) {
    tokens.push(await createSteady(client, takeOp(scene.ledger)))
  }
  client?.connection.close()
  return { tokens, answers: 0 }
}

function judge(ledger: Ledger, what: string, { pagination, data }: List, total: number): void {
  const { total_items: found } = pagination
  if (found !== total) report(ledger, 'wrong answer', `${what} counts ${found} of ${total}`)
  if (data.length !== Math.min(total, pageSize)) {
    report(ledger, 'wrong answer', `${what} shows ${data.length}`)
  }
  for (const shown of data) {
    const { acknowledged } = ledger.tokens.get(shown.id)?.register ?? {}
    if (readWritten('token', shown)?.op === acknowledged) continue
    report(ledger, 'lost', `${what} shows token ${shown.id} as it never was`)
  }
}

async function ask(client: Client, { tokens }: Steady): Promise<void> {
  const { ledger, keys, draw } = client
  const listed = `/tokens?container=${container}&size=${pageSize}`
  const list = { method: 'GET', path: listed, question: { key: keys.private } }
  const answer = await send(client, { ...list, status: 200 })
  if (answer.status === 200) judge(ledger, 'the list', parseBody(answer), tokens.length)
  const op = pick(draw, tokens)?.register.acknowledged
  const body = { query: `data:${op}`, size: pageSize }
  const search = { method: 'POST', path: '/tokens/search', question: { key: keys.private, body } }
  const found = await send(client, { ...search, status: 200 })
  if (found.status === 200) judge(ledger, `the search for ${op}`, parseBody(found), 1)
  ledger.checked += 2
}

async function askOn(client: Client, steady: Steady, isOver: () => boolean): Promise<void> {
  const { connection, draw } = client
  while (!isOver()) {
    try {
      await ask(client, steady)
      steady.answers += 2
    } catch (error) {
      // A broken connection is all that a client sees of a kill.
      if (connection.isOpen()) throw error
      return
    }
    await Bun.sleep(draw(restMsMax))
  }
}

/** Runs `load` with searching clients beside it. */
export async function loadAndSearch(scene: Scene, steady: Steady, round: Round): Promise<void> {
  let isOver = false
  const searching = connectClients(scene, searchers, round.tolerated)
    .catch(() => [])
    .then(async clients => {
      await Promise.all(clients.map(client => askOn(client, steady, () => isOver)))
      for (const { connection } of clients) connection.close()
    })
  try {
    await load(scene, round)
  } finally {
    isOver = true
    await searching
  }
}
