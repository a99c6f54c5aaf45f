/**
 * The vault under wrong clocks: a serving process that is ended and restarted, the tokens that it
 * acknowledged, and the check that it shows them exactly as it must.
 * @module
 */
import { join } from 'node:path'
import { openLmdbStore, type LmdbStore } from '../../../src/store/lmdb/lmdb-store.ts'
import {
  runCoffer,
  startCoffer,
  type Running,
  withoutWarnings,
} from '../../support/coffer-process.ts'
import { fakeTime, type FakeTime } from '../../support/fake-time.ts'
import { judge, moveWall, noteAnswer, noteRestart, rightBelief, type Belief } from './belief.ts'
import { zone } from './walls.ts'

const permissions = ['token:create', 'token:read']
const readsAtOnce = 16
const ofClocks: ReadonlySet<string> = new Set(['clock_jumped', 'clock_behind', 'clock_caught_up'])

interface Token {
  readonly id: string
  readonly deadlineMs: number | undefined
}

export interface ClockVault {
  readonly belief: Belief
  readonly wall: FakeTime
  readonly data: string
  readonly tokens: Token[]
  readonly failures: string[]
  /** Number of log lines of all processes, by event. */
  readonly events: Map<string, number>
  readonly counts: { reads: number; hidden: number; starts: number }
  /** Rows on the disk, read beside the process. */
  readonly store: LmdbStore
  server: Running
  key: string
  lastAnswerMs: number
}

const start = ({ data, wall }: Pick<ClockVault, 'data' | 'wall'>): Promise<Running> =>
  startCoffer(['serve', '--data', data, '--port', '0'], { env: { ...wall.env, TZ: zone } })

async function ask(vault: ClockVault, method: string, path: string, body?: unknown) {
  const base = vault.server.ready.trim().split(' ').at(-1) ?? ''
  const fromMs = Date.now()
  const response = await fetch(base + path, {
    method,
    headers: { 'SVC-API-KEY': vault.key, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as Readonly<Record<string, unknown>>
  vault.lastAnswerMs = Date.now()
  return { status: response.status, answer, span: { fromMs, toMs: vault.lastAnswerMs } }
}

/** Opens it under a right clock. @param folder an empty one */
export async function openClockVault(folder: string): Promise<ClockVault> {
  const data = join(folder, 'data')
  const wall = fakeTime(folder)
  const { stdout } = await runCoffer(['init', '--data', data, '--json'])
  const vault: ClockVault = {
    belief: rightBelief(),
    wall,
    data,
    tokens: [],
    failures: [],
    events: new Map(),
    counts: { reads: 0, hidden: 0, starts: 1 },
    store: await openLmdbStore({ path: join(data, 'store') }),
    server: await start({ data, wall }),
    key: (JSON.parse(stdout) as { key: string }).key,
    lastAnswerMs: Date.now(),
  }
  const body = { name: 'caller', type: 'private', permissions }
  vault.key = String((await ask(vault, 'POST', '/applications', body)).answer['key'])
  return vault
}

export function showWall({ belief, wall }: ClockVault, aheadMs: number): void {
  wall.set(aheadMs)
  moveWall(belief, aheadMs)
}

async function noteEvents({ server, events, failures }: ClockVault): Promise<void> {
  for (const line of withoutWarnings(await server.stderr)
    .split('\n')
    .filter(text => text !== '')) {
    const { event } = JSON.parse(line) as { event: string }
    events.set(event, (events.get(event) ?? 0) + 1)
    if (!ofClocks.has(event)) failures.push(`logged ${event}`)
  }
}

export async function endVault(vault: ClockVault, signal: NodeJS.Signals): Promise<void> {
  const exitCode = await vault.server.end(signal)
  if (signal === 'SIGTERM' && exitCode !== 0) vault.failures.push(`exit code ${exitCode}`)
  await noteEvents(vault)
}

export async function startVault(vault: ClockVault): Promise<void> {
  vault.server = await start(vault)
  vault.counts.starts += 1
  noteRestart(vault.belief, Date.now() - vault.lastAnswerMs)
}

export async function restartVault(vault: ClockVault, signal: NodeJS.Signals): Promise<void> {
  await endVault(vault, signal)
  await startVault(vault)
}

/** Makes a token, or is refused because it has already expired by the server's clock. */
export async function addToken(vault: ClockVault, lifetimeMs?: number): Promise<void> {
  const { belief, tokens, failures } = vault
  const id = `token-${tokens.length}`
  const deadlineMs = lifetimeMs === undefined ? undefined : Date.now() + lifetimeMs
  const expires = deadlineMs === undefined ? {} : { expires_at: new Date(deadlineMs).toISOString() }
  const body = { id, type: 'token', data: 1, ...expires }
  const { status, span } = await ask(vault, 'POST', '/tokens', body)
  const verdict = judge(belief, deadlineMs, span)
  noteAnswer(belief)
  if (status === 201) tokens.push({ id, deadlineMs })
  const isRight = (status === 201 && verdict !== 'gone') || (status === 400 && verdict !== 'there')
  if (!isRight) failures.push(`${status} for a new token that must be ${verdict}`)
}

async function checkToken(vault: ClockVault, { id, deadlineMs }: Token, when: string) {
  const { status, span } = await ask(vault, 'GET', `/tokens/${id}`)
  const verdict = judge(vault.belief, deadlineMs, span)
  vault.counts.reads += 1
  if (status === 404 && deadlineMs !== undefined && deadlineMs > span.toMs) vault.counts.hidden += 1
  const isRight = (status === 200 && verdict !== 'gone') || (status === 404 && verdict !== 'there')
  if (!isRight) vault.failures.push(`${when}: ${status} for a token that must be ${verdict}`)
}

/** Reads every token that was ever acknowledged. */
export async function checkTokens(vault: ClockVault, when: string): Promise<void> {
  const { tokens, belief } = vault
  for (let at = 0; at < tokens.length; at += readsAtOnce) {
    const some = tokens.slice(at, at + readsAtOnce)
    await Promise.all(some.map(token => checkToken(vault, token, when)))
    noteAnswer(belief)
  }
}
