/**
 * Clients of three vaults, each with tokens of its own, and what they were promised.
 *
 * A token whose write got no answer is left alone until the next check, which finds out what became
 * of it. A create under an idempotency key is sent again, through any vault, until it is answered.
 * @module
 */
import { openConnection, type Answer, type Connection } from '../support/connection.ts'
import { pick, type Draw } from '../crash/draw.ts'
import { breach, record, type Entry, type Ledger } from '../crash/ledger.ts'

interface Sample {
  readonly vault: number
  readonly endMs: number
  readonly tookMs: number
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
  connection: Connection | undefined
  count: number
  retries: number
  isPaused: boolean
  isIdle: boolean
  isOver: boolean
}

const backOffMs = 100

const bodyOf = (load: Load, version: number): Readonly<Record<string, unknown>> => ({
  data: { version, of: load.name },
  metadata: { client: load.name, version: String(version) },
})

async function askThrough(
  load: Load,
  vault: number,
  ...[method, path, question]: Parameters<Connection['ask']>
): Promise<Answer> {
  if (load.vault === vault && load.connection?.isOpen() === true) {
    return load.connection.ask(method, path, { key: load.key, ...question })
  }
  const connection = await openConnection({ unix: load.sockets[vault] ?? '' })
  if (load.vault === vault) load.connection = connection
  try {
    return await connection.ask(method, path, { key: load.key, ...question })
  } finally {
    if (load.vault !== vault) connection.close()
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
}

async function operate(load: Load): Promise<void> {
  const { ledger, draw, name } = load
  load.count += 1
  const version = load.count
  const settled = [...load.touched].filter(id => {
    const entry = ledger.entries.get(id)
    return entry?.pending === undefined && entry?.acknowledged !== undefined
  })
  const id = pick(draw, settled)
  const kind = draw(10)
  if (id === undefined || kind < 3) {
    return writeOne(load, `${name}-${version}`, 'POST', version)
  }
  if (kind < 5) return createUnderKey(load, version)
  if (kind < 7) return writeOne(load, id, 'PATCH', version)
  if (kind < 8) return writeOne(load, id, 'DELETE', version)
  await (kind === 8 ? readOne(load, id, load.vault) : expectTotal(load, load.vault, false))
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
  if (broken !== undefined) load.failures.push(`lost: ${id}: ${broken}`)
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
  const answer = await askThrough(load, vault, 'GET', `/tokens?metadata.client=${load.name}`)
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
    try {
      await operate(load)
      const endMs = performance.now()
      load.samples.push({ vault: load.vault, endMs, tookMs: endMs - startedMs })
    } catch {
      load.retries += 1
      await Bun.sleep(backOffMs)
    }
    await Bun.sleep(thinkMs)
  }
  load.connection?.close()
}
