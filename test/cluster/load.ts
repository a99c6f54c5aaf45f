/**
 * Clients of three vaults, each with tokens of its own, and the answers that vaults must stand by.
 *
 * A token whose write got no answer is left alone until the next check, which finds out its
 * outcome. A create under an idempotency key is sent again, through any vault, until it is
 * answered. An answer that no fault of a database explains, such as a 500, is a failure at once.
 * @module
 */
import { openConnection, type Answer, type Connection } from '../support/connection.ts'
import { pick, type Draw } from '../crash/draw.ts'
import { breach, record, type Entry, type Ledger } from '../crash/ledger.ts'

export interface Sample {
  readonly endMs: number
  /** Infinite for a refused request. */
  readonly tookMs: number
}

/** A token that is to be gone at its instant, by the clock of this machine. */
interface Expiring {
  readonly id: string
  readonly atMs: number
}

export interface Load {
  readonly name: string
  readonly vault: number
  readonly sockets: readonly string[]
  readonly key: string
  readonly draw: Draw
  readonly ledger: Ledger
  readonly samples: Sample[]
  readonly failures: string[]
  /** Touched since the last check. */
  readonly touched: Set<string>
  /** When the last write of an id was answered, in Unix milliseconds. */
  readonly answeredMs: Map<string, number>
  readonly expiring: Expiring[]
  /** Ids by the data that only one token may have. */
  readonly twins: Map<string, string>
  connection: Connection | undefined
  count: number
  retries: number
  isPaused: boolean
  isIdle: boolean
  isOver: boolean
}

const backOffMs = 100
const lifeMs = 3_000
/** Largest difference between two clocks of one machine and a request. */
const instantMs = 250
const twins = 5

const bodyOf = (load: Load, version: number): Readonly<Record<string, unknown>> => ({
  data: { version, of: load.name },
  metadata: { client: load.name, version: String(version) },
})

/** Returns true for answers that a lost database, or a race of one key, explains. */
function isExplained(method: string, { status, text }: Answer, isUnderKey: boolean): boolean {
  if (status < 300 || status === 503) return true
  // It was in the future when it was sent, and waited for a failover.
  if (status === 400 && text.includes('expected an instant in the future')) return true
  return (status === 404 && method === 'GET') || (status === 409 && isUnderKey)
}

type Asked = Parameters<Connection['ask']>

async function askThrough(load: Load, vault: number, ...asked: Asked): Promise<Answer> {
  const [method, path, question] = asked
  const isOwn = load.vault === vault
  const kept = isOwn && load.connection?.isOpen() === true ? load.connection : undefined
  const connection = kept ?? (await openConnection({ unix: load.sockets[vault] ?? '' }))
  if (isOwn) load.connection = connection
  try {
    const answer = await connection.ask(method, path, { key: load.key, ...question })
    const isUnderKey = question?.headers !== undefined
    if (!isExplained(method, answer, isUnderKey)) {
      load.failures.push(`${method} ${path}: ${answer.status}: ${answer.text}`)
    }
    return answer
  } finally {
    if (!isOwn) connection.close()
  }
}

async function createUnderKey(load: Load, version: number): Promise<void> {
  const headers = { 'SVC-IDEMPOTENCY-KEY': `${load.name}-${version}` }
  const body = { type: 'token', ...bodyOf(load, version) }
  for (let vault = load.vault; ; vault = load.draw(load.sockets.length)) {
    const sent = askThrough(load, vault, 'POST', '/tokens', { headers, body })
    const answer = await sent.catch(() => undefined)
    if (answer?.status === 201) {
      const { id } = JSON.parse(answer.text) as { id: string }
      load.ledger.entries.set(id, { acknowledged: version, pending: undefined })
      load.ledger.acknowledged += 1
      load.touched.add(id)
      load.answeredMs.set(id, Date.now())
      return
    }
    load.retries += 1
    await Bun.sleep(backOffMs)
  }
}

async function writeOne(load: Load, id: string, method: string, version: number): Promise<void> {
  const { ledger, vault } = load
  load.touched.add(id)
  const isDelete = method === 'DELETE'
  const path = method === 'POST' ? '/tokens' : `/tokens/${id}`
  const body = isDelete
    ? undefined
    : { ...bodyOf(load, version), ...(method === 'POST' ? { id, type: 'token' } : {}) }
  const send = async (): Promise<number> =>
    (await askThrough(load, vault, method, path, { body })).status
  const expected = isDelete ? 204 : method === 'POST' ? 201 : 200
  await record(ledger, id, isDelete ? undefined : version, send, expected)
  load.answeredMs.set(id, Date.now())
}

async function createExpiring(load: Load, version: number): Promise<void> {
  const atMs = Date.now() + lifeMs
  const id = `${load.name}-expires-${version}`
  const body = { id, type: 'token', data: 'x', expires_at: new Date(atMs).toISOString() }
  const { status } = await askThrough(load, load.vault, 'POST', '/tokens', { body })
  if (status === 201) load.expiring.push({ id, atMs })
}

/** Expects the token until its instant, and none from then on, in every vault. */
async function watchExpiring(load: Load): Promise<void> {
  const one = load.expiring[load.draw(load.expiring.length)]
  if (one === undefined) return
  const beforeMs = Date.now()
  const vault = load.draw(load.sockets.length)
  const { status } = await askThrough(load, vault, 'GET', `/tokens/${one.id}`)
  const afterMs = Date.now()
  const isShown = status === 200 && beforeMs > one.atMs + instantMs
  const isLost = status === 404 && afterMs < one.atMs - instantMs
  if (isShown || isLost) load.failures.push(`expiry: ${one.id}: ${status} at ${afterMs - one.atMs}`)
  if (status === 404) load.expiring.splice(load.expiring.indexOf(one), 1)
}

/** Creates the same data through any vault, which makes one token. */
async function createTwin(load: Load): Promise<void> {
  const data = `${load.name}-twin-${load.draw(twins)}`
  const body = { type: 'token', data, deduplicate_token: true }
  const vault = load.draw(load.sockets.length)
  const { status, text } = await askThrough(load, vault, 'POST', '/tokens', { body })
  if (status >= 300) return
  const { id } = JSON.parse(text) as { id: string }
  const known = load.twins.get(data) ?? id
  load.twins.set(data, known)
  if (known !== id) load.failures.push(`doubled: ${data}: ${known}, ${id}`)
}

type Kind =
  'create' | 'underKey' | 'patch' | 'delete' | 'read' | 'total' | 'expire' | 'watch' | 'twin'

/** Steps of a client, each as often as it stands here. */
const kinds: readonly Kind[] = [
  ...(['create', 'create', 'create', 'underKey', 'underKey', 'patch', 'patch'] as const),
  ...(['delete', 'read', 'total', 'expire', 'watch', 'twin'] as const),
]

async function operate(load: Load): Promise<void> {
  const { ledger, draw, name, vault } = load
  load.count += 1
  const version = load.count
  const settled = [...load.touched].filter(each => {
    const entry = ledger.entries.get(each)
    return entry?.pending === undefined && entry?.acknowledged !== undefined
  })
  const id = pick(draw, settled)
  const kind = pick(draw, kinds)
  if (kind === 'underKey') return createUnderKey(load, version)
  if (kind === 'total') return expectTotal(load, vault, false)
  if (kind === 'expire') return createExpiring(load, version)
  if (kind === 'watch') return watchExpiring(load)
  if (kind === 'twin') return createTwin(load)
  if (kind === 'create' || id === undefined) {
    return writeOne(load, `${name}-${version}`, 'POST', version)
  }
  if (kind === 'read') return readOne(load, id, vault)
  return writeOne(load, id, kind === 'patch' ? 'PATCH' : 'DELETE', version)
}

interface Shown {
  readonly id: string
  readonly data?: { readonly version: number }
  readonly metadata?: Readonly<Record<string, string>>
}

function look(load: Load, id: string, entry: Entry, shown: Shown | undefined): void {
  const version = shown?.data?.version
  if (shown !== undefined && String(version) !== shown.metadata?.['version']) {
    load.failures.push(`half-applied: ${id}: ${JSON.stringify(shown)}`)
  }
  const broken = breach(entry, version)
  if (broken !== undefined) {
    const answered = new Date(load.answeredMs.get(id) ?? 0).toISOString()
    load.failures.push(`lost: ${id}: ${broken}, answered last at ${answered}`)
  }
  entry.acknowledged = version
  entry.pending = undefined
}

export async function readOne(load: Load, id: string, vault: number): Promise<void> {
  const entry = load.ledger.entries.get(id)
  const answer = await askThrough(load, vault, 'GET', `/tokens/${id}`)
  if (entry === undefined) return
  if (answer.status === 200) return look(load, id, entry, JSON.parse(answer.text) as Shown)
  if (answer.status === 404) return look(load, id, entry, undefined)
  throw new Error(`GET: ${answer.status}: ${answer.text}`)
}

/** A client knows its own total where no write of it is pending. */
export async function expectTotal(load: Load, vault: number, isStrict = true): Promise<void> {
  const entries = [...load.ledger.entries.values()]
  const isKnown = entries.every(({ pending }) => pending === undefined)
  const answer = await (load.draw(2) === 0
    ? askThrough(load, vault, 'GET', `/tokens?metadata.client=${load.name}`)
    : askThrough(load, vault, 'POST', '/tokens/search', {
        body: { query: `metadata.client:${load.name}` },
      }))
  if (answer.status !== 200) throw new Error(`list: ${answer.status}: ${answer.text}`)
  const { pagination } = JSON.parse(answer.text) as { pagination: { total_items: number } }
  const expected = entries.filter(({ acknowledged }) => acknowledged !== undefined).length
  if (!isStrict && !isKnown) return
  if (pagination.total_items === expected) return
  load.failures.push(`total: ${load.name}: ${pagination.total_items}, expected ${expected}`)
}

export async function runLoad(load: Load, thinkMs: number): Promise<void> {
  while (!load.isOver) {
    load.isIdle = load.isPaused
    if (load.isPaused) {
      await Bun.sleep(20)
      continue
    }
    const startedMs = performance.now()
    const sampled = (isDone: boolean): void => {
      const endMs = performance.now()
      const tookMs = isDone ? endMs - startedMs : Infinity
      load.samples.push({ endMs, tookMs })
    }
    try {
      await operate(load)
      sampled(true)
    } catch {
      // It was refused or lost: unexplained answers are among the failures already.
      sampled(false)
      load.retries += 1
      await Bun.sleep(backOffMs)
    }
    await Bun.sleep(thinkMs)
  }
  load.connection?.close()
}
