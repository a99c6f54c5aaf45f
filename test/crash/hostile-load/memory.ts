/**
 * A process that may use 256 MiB of memory, under work that takes as much as it can get.
 *
 * The limit is a control group if one is available. Otherwise the process is killed at the point
 * at which the kernel would kill it in such a group: when its memory without files, which cannot
 * be reclaimed, exceeds the limit. Either way every acknowledged write must survive.
 * Source: hardening H168.
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import type { Connection } from '../../support/connection.ts'
import { findDamage } from '../clients/integrity.ts'
import type { Size } from '../part.ts'
import { checkUnharmed, connectTo, pidOf, startServer, stopServer, type Ground } from './ground.ts'
import { openMemoryLimit, type MemoryLimit } from './memory-limit.ts'

const limitMiB = 256
const bytesOfMiB = 1_024 * 1_024
const workMs: Readonly<Record<Size, number>> = { full: 30_000, short: 1_000 }
/** Enough to take a server to its limit. */
const clients = 64
/** Their answers of `dataChars` fit in the budget of a credential, while they wait for the log. */
const readers = 32
const watchMs = 2
const restMs = 500
const dataChars = 300_000
const bulkItems = 500

/** Promises to the clients: ids of tokens, each with the letter that fills its data. */
interface Promised {
  readonly tokens: Map<string, string>
  readonly bulk: string[]
  /** Statuses that meant neither success nor refusal. */
  readonly odd: Set<number>
}

const letterOf = (count: number): string => String.fromCharCode(97 + (count % 26))

async function createLarge(connection: Connection, key: string, id: string, letter: string) {
  const body = { id, type: 'token', data: letter.repeat(dataChars) }
  return (await connection.ask('POST', '/tokens', { key, body })).status
}

async function createBulk(connection: Connection, key: string, promised: Promised) {
  const body = Array.from({ length: bulkItems }, (_, index) => `bulk ${index}`)
  const { status, text } = await connection.ask('POST', '/tokenize', { key, body })
  if (status === 200) promised.bulk.push(...(JSON.parse(text) as string[]))
  return status
}

const listAll = async (connection: Connection, key: string) =>
  (await connection.ask('GET', '/tokens?size=20', { key })).status

/** Works until time is up or the server is gone. */
async function work(ground: Ground, name: string, promised: Promised, endMs: number) {
  const key = ground.keys.private
  const connection = await connectTo(ground).catch(() => undefined)
  if (connection === undefined) return
  try {
    for (let count = 0; performance.now() < endMs; count += 1) {
      const id = `memory-${name}-${count}`
      const letter = letterOf(count)
      const made = await createLarge(connection, key, id, letter)
      if (made === 201) promised.tokens.set(id, letter)
      const others = [made, await createBulk(connection, key, promised)]
      others.push(await listAll(connection, key))
      for (const status of others) if (status >= 500 && status !== 507) promised.odd.add(status)
    }
  } catch {
    // The server was killed: an unanswered request promises nothing.
  }
  connection.close()
}

interface Watched {
  readonly mostMiB: number
  readonly wasKilled: boolean
}

/** Kills at the limit if the kernel does not. */
async function watchMemory(pid: number, isHeld: boolean, isOver: () => boolean): Promise<Watched> {
  let mostMiB = 0
  while (!isOver()) {
    const status = existsSync(`/proc/${pid}/status`) ? readStatus(pid) : ''
    const kibibytes = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]
    if (kibibytes === undefined) break
    mostMiB = Math.max(mostMiB, Number(kibibytes) / 1_024)
    if (!isHeld && mostMiB > limitMiB) {
      process.kill(pid, 'SIGKILL')
      return { mostMiB, wasKilled: true }
    }
    await Bun.sleep(watchMs)
  }
  return { mostMiB, wasKilled: false }
}

function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1')
  } catch {
    return ''
  }
}

/** Every acknowledged token must read back as it was sent. */
async function checkPromises(ground: Ground, { tokens, bulk, odd }: Promised): Promise<void> {
  const { failures, keys } = ground
  const large = [...tokens].map(([id, letter]) => [id, letter, dataChars] as const)
  const all = [...large, ...bulk.map((id, index) => [id, `bulk ${index % bulkItems}`, 1] as const)]
  const check = async (_: unknown, from: number): Promise<void> => {
    const connection = await connectTo(ground)
    for (let index = from; index < all.length; index += readers) {
      const [id, text, times] = all[index] ?? ['', '', 0]
      const answer = await connection.ask('GET', `/tokens/${id}`, { key: keys.private })
      const read = JSON.parse(answer.text) as { readonly data?: unknown }
      if (read.data !== text.repeat(times)) failures.push(`H168: ${id} is lost: ${answer.status}`)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: readers }, check))
  for (const status of odd) failures.push(`H168: answered ${status}`)
}

interface Totals {
  readonly limit: MemoryLimit
  ends: number
  failedCommits: number
  mostMiB: number
}

/** Runs one server under the limit until the limit ends it or time is up. */
async function workUnderLimit(ground: Ground, endMs: number, promised: Promised, totals: Totals) {
  const { limit } = totals
  await startServer(ground, limit.prefix)
  const pid = pidOf(ground)
  let isOver = false
  const round = String(totals.ends)
  const working = Array.from({ length: clients }, (_, index) =>
    work(ground, `${round}-${index}`, promised, endMs),
  )
  const watching = watchMemory(pid, limit.isHeld, () => isOver)
  await Promise.all(working)
  isOver = true
  const { mostMiB, wasKilled } = await watching
  totals.mostMiB = Math.max(totals.mostMiB, mostMiB)
  const isTimeOver = !wasKilled && performance.now() >= endMs
  // The server may end by itself just as time is up.
  const rest = isTimeOver ? [Bun.sleep(restMs)] : []
  const exitCode = await Promise.race([ground.running?.server.exited, ...rest])
  if (exitCode === undefined) return stopServer(ground)
  const stderr = await ground.running?.server.stderr
  ground.running = undefined
  totals.ends += 1
  // Told on stderr; the process then ends itself by SIGKILL, so its exit code tells nothing.
  const isFailedCommit = stderr?.includes('"event":"store_failed"') === true
  if (isFailedCommit) totals.failedCommits += 1
  // 128 plus the number of SIGKILL.
  else if (exitCode !== 137) ground.failures.push(`H168: ended with ${exitCode}: ${stderr}`)
}

/** Runs servers under the limit, one after the other, until time is up. */
async function workUntil(ground: Ground, promised: Promised): Promise<Totals> {
  const limit = openMemoryLimit(limitMiB * bytesOfMiB)
  const totals: Totals = { limit, ends: 0, failedCommits: 0, mostMiB: 0 }
  try {
    const endMs = performance.now() + workMs[ground.size]
    while (performance.now() < endMs) await workUnderLimit(ground, endMs, promised, totals)
    const kills = limit.countKills()
    if (kills !== undefined) ground.figures['H168: kills by the kernel'] = kills
  } finally {
    await ground.running?.server.end('SIGKILL')
    await limit.remove()
  }
  return totals
}

/** H168: servers work under the memory limit. */
export async function workInLittleMemory(ground: Ground): Promise<void> {
  const { figures, failures, home } = ground
  await stopServer(ground)
  const promised: Promised = { tokens: new Map(), bulk: [], odd: new Set() }
  const totals = await workUntil(ground, promised)
  for (const damage of await findDamage(home.data)) failures.push(`H168: ${damage}`)
  await startServer(ground)
  await checkPromises(ground, promised)
  await checkUnharmed(ground, 'H168')
  figures[`H168: limit of ${limitMiB} MiB`] = totals.limit.by
  const tokens = promised.tokens.size + promised.bulk.length
  figures['H168: acknowledged tokens · ends · of these by a failed commit'] =
    `${tokens} · ${totals.ends} · ${totals.failedCommits}`
  figures['H168: memory without files at most, MiB'] = Math.round(totals.mostMiB)
}
