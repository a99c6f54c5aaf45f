/**
 * Clients that have values revealed, and what they were answered.
 * @module
 */
import { openConnection, type Connection, type Question } from '../../support/connection.ts'
import { connectAll, targetOf, type Home } from '../clients/server.ts'
import type { Keys } from '../clients/client.ts'
import type { Draw } from '../draw.ts'

/** An answer that reached its client whole. */
export interface Revealed {
  /** Chosen by the client, and of no other request. */
  readonly trace: string
  readonly operation: string
  readonly ids: readonly string[]
}

/** A vault, its tokens, and all that its clients were answered. */
export interface Reveals {
  readonly home: Home
  readonly keys: Keys
  readonly draw: Draw
  readonly ids: readonly string[]
  readonly answers: Revealed[]
  /** Newest checkpoint that a client got; kept through all kills. */
  pinned: string | undefined
  /** Answers that are not as the vault must give them. */
  readonly wrong: string[]
}

const tokens = 64
const clientsMin = 16
const clientsMax = 48
/** A list names so many tokens. */
const pageSize = 4
const checkpointRestMs = 20

/** Makes tokens, while a server runs. */
export async function makeTokens({ home, keys }: Pick<Reveals, 'home' | 'keys'>) {
  const [connection] = await connectAll(home, 1)
  const ids = Array.from({ length: tokens }, (_, at) => `revealed-${at}`)
  const body = ids.map(id => ({ id, type: 'token', data: `value of ${id}` }))
  const made = await connection?.ask('POST', '/tokenize', { key: keys.private, body })
  connection?.close()
  if (made?.status !== 200) throw new Error(`no tokens: ${made?.text}`)
  return ids
}

interface Asked {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** The ids that an answer revealed. */
  readonly idsIn: (text: string) => readonly string[]
}

/** Most ask for one token, some for two, some for a list. */
function drawQuestion({ draw, ids }: Reveals): Asked {
  const [one = '', two = ''] = [ids[draw(ids.length)], ids[draw(ids.length)]]
  const kind = draw(8)
  if (kind === 0) {
    const idsIn = (text: string): readonly string[] =>
      (JSON.parse(text) as { data: readonly { id: string }[] }).data.map(({ id }) => id)
    const path = `/tokens?size=${pageSize}&page=${1 + draw(tokens / pageSize)}`
    return { operation: 'listTokens', method: 'GET', path, idsIn }
  }
  if (kind === 1) {
    const body = { one: `{{ ${one} }}`, two: `{{ ${two} | append: '!' }}` }
    const idsIn = () => [one, two]
    return { operation: 'detokenize', method: 'POST', path: '/detokenize', body, idsIn }
  }
  return { operation: 'getToken', method: 'GET', path: `/tokens/${one}`, idsIn: () => [one] }
}

/** Asks on until the connection or the round ends. @param name of no other client */
async function askOn(
  reveals: Reveals,
  connection: Connection,
  name: string,
  isOver: () => boolean,
): Promise<void> {
  for (let count = 0; !isOver() && connection.isOpen(); count += 1) {
    const { operation, method, path, body, idsIn } = drawQuestion(reveals)
    const trace = `${name}-${count}`
    const headers = { 'svc-trace-id': trace }
    const question: Question = { key: reveals.keys.private, headers, body }
    const answer = await connection.ask(method, path, question).catch(() => undefined)
    if (answer === undefined) return
    const { status, text } = answer
    if (status !== 200) reveals.wrong.push(`${method} ${path}: ${status}: ${text}`)
    else reveals.answers.push({ trace, operation, ids: idsIn(text) })
  }
}

/** Keeps the newest checkpoint, as an operator would elsewhere. */
async function keepCheckpoints(reveals: Reveals, isOver: () => boolean): Promise<void> {
  const connection = await openConnection(targetOf(reveals.home)).catch(() => undefined)
  while (connection !== undefined && !isOver()) {
    const question = { key: reveals.keys.management }
    const answer = await connection.ask('GET', '/logs/checkpoint', question).catch(() => undefined)
    if (answer === undefined) return
    // 404: nothing is signed yet.
    if (answer.status === 200) reveals.pinned = (JSON.parse(answer.text) as { note: string }).note
    await Bun.sleep(checkpointRestMs)
  }
  connection?.close()
}

/**
 * Asks from many clients at once until told to stop.
 * @param stop ends the server, or one of its processes, while they ask
 * @returns once every request was answered, or never will be
 */
export async function askWhile(
  reveals: Reveals,
  round: string,
  stop: () => Promise<unknown>,
): Promise<void> {
  const count = clientsMin + reveals.draw(clientsMax - clientsMin + 1)
  let isOver = false
  const connections = await connectAll(reveals.home, count)
  const asking = connections.map((connection, at) =>
    askOn(reveals, connection, `${round}-${at}`, () => isOver),
  )
  const keeping = keepCheckpoints(reveals, () => isOver)
  await stop()
  isOver = true
  await Promise.all([...asking, keeping])
  for (const connection of connections) connection.close()
}

/** Waits until so many more answers came. @param isGone true once no more will come */
export async function untilAnswered(
  { answers }: Reveals,
  more: number,
  isGone: () => boolean = () => false,
): Promise<void> {
  const enough = answers.length + more
  while (answers.length < enough && !isGone()) await Bun.sleep(1)
}
