/**
 * A vault under hostile load: callers, tokens that must survive, and the checks after every case.
 *
 * The canary is the data of those tokens, so no refusal and no log line may show it.
 * Source: hardening I1 to I5.
 * @module
 */
import { join } from 'node:path'
import { canary } from '../../support/refusal.ts'
import { openConnection, type Connection } from '../../support/connection.ts'
import { startCoffer, type Running, withoutWarnings } from '../../support/coffer-process.ts'
import type { Keys } from '../clients/client.ts'
import { makeVault, openHome, type Home } from '../clients/server.ts'
import type { PartOptions, Size } from '../part.ts'

export interface Ground {
  readonly home: Home
  readonly keys: Keys
  readonly size: Size
  readonly say: (line: string) => void
  readonly figures: Record<string, number | string>
  readonly failures: string[]
  /** Time of the first good request after each case, in milliseconds. */
  readonly firstMs: number[]
  running: { readonly server: Running; readonly port: number } | undefined
}

const keptCount = 100
const goodMsMax = 50
const goodTries = 3

const keptId = (index: number): string => `kept-${index}`
const keptBody = (index: number) => ({
  id: keptId(index),
  type: 'token',
  data: { secret: `${canary}-${index}`, n: index },
  metadata: { index: String(index) },
})

/** @throws Error if no server runs */
export function portOf({ running }: Ground): number {
  if (running === undefined) throw new Error('no server runs')
  return running.port
}

export const pidOf = ({ running }: Ground): number => running?.server.pid ?? 0
export const storeOf = ({ home }: Ground): string => join(home.data, 'store')

export const connectTo = (ground: Ground): Promise<Connection> =>
  openConnection({ hostname: '127.0.0.1', port: portOf(ground) })

/** @param prefix a command that sets limits and then becomes the command after it */
export async function startServer(ground: Ground, prefix: readonly string[] = []): Promise<void> {
  const { data, temporary } = ground.home
  const options = { env: { BUN_TMPDIR: temporary }, prefix }
  const server = await startCoffer(['serve', '--data', data, '--port', '0'], options)
  ground.running = { server, port: Number(/:(\d+)\s*$/.exec(server.ready)?.[1]) }
}

/** The server must exit with 0 and log nothing: no flood of lines, and no canary. */
export async function stopServer(ground: Ground): Promise<void> {
  const { running, failures } = ground
  ground.running = undefined
  if (running === undefined) return
  const exitCode = await running.server.end('SIGTERM')
  const said = (await running.server.stdout) + withoutWarnings(await running.server.stderr)
  if (exitCode !== 0) failures.push(`the server ended with ${exitCode}`)
  if (said.includes(canary)) failures.push('the canary is in the log')
  if (said !== '') failures.push(`the server said: ${said.slice(0, 300)}`)
}

/** Opens a vault with a server, and with tokens that must survive. */
export async function openGround({ folder, size, say }: PartOptions): Promise<Ground> {
  const home = openHome(folder)
  const keys = await makeVault(home)
  const rest = { figures: {}, failures: [], firstMs: [], running: undefined }
  const ground: Ground = { home, keys, size, say, ...rest }
  await startServer(ground)
  const connection = await connectTo(ground)
  for (let index = 0; index < keptCount; index += 1) {
    const question = { key: keys.private, body: keptBody(index) }
    const { status } = await connection.ask('POST', '/tokens', question)
    if (status !== 201) throw new Error(`the first tokens were answered ${status}`)
  }
  connection.close()
  return ground
}

/** Counts statuses; none may be a 5xx (I5). */
export function reportStatuses(
  { failures }: Ground,
  name: string,
  statuses: Readonly<Record<string, number>>,
  expected: readonly string[],
): void {
  for (const [status, count] of Object.entries(statuses)) {
    if (!expected.includes(status)) failures.push(`${name}: ${count} answers of ${status}`)
  }
}

/** I1: times a good request over a new connection, and takes the best of a few tries. */
async function checkGood(ground: Ground, name: string): Promise<void> {
  const times: number[] = []
  for (let tries = 0; tries < goodTries; tries += 1) {
    const startedMs = performance.now()
    const connection = await connectTo(ground)
    const question = { key: ground.keys.private }
    const { status } = await connection.ask('GET', `/tokens/${keptId(0)}`, question)
    times.push(performance.now() - startedMs)
    connection.close()
    if (status !== 200) ground.failures.push(`${name}: a good request was answered ${status}`)
  }
  ground.firstMs.push(times[0] ?? 0)
  const bestMs = Math.min(...times)
  if (bestMs > goodMsMax) ground.failures.push(`${name}: a good request took ${bestMs} ms`)
}

/** Members that a token may have in an answer: none from a prototype (I4). */
const members = new Set([
  'id',
  'type',
  'tenant_id',
  'data',
  'mask',
  'metadata',
  'containers',
  'search_indexes',
  'fingerprint',
  'fingerprint_expression',
  'created_at',
  'created_by',
])

/** I2 and I4: each stored token reads back equal, with the same members as ever. */
async function checkKept(ground: Ground, name: string): Promise<void> {
  const connection = await connectTo(ground)
  for (let index = 0; index < keptCount; index += 1) {
    const question = { key: ground.keys.private }
    const answer = await connection.ask('GET', `/tokens/${keptId(index)}`, question)
    const token = JSON.parse(answer.text) as Record<string, unknown>
    const { id, type, data, metadata } = token
    const isEqual = Bun.deepEquals({ id, type, data, metadata }, keptBody(index))
    if (!isEqual) ground.failures.push(`${name}: ${keptId(index)} reads otherwise`)
    const unknown = Object.keys(token).filter(member => !members.has(member))
    if (unknown.length > 0) ground.failures.push(`${name}: a token has ${unknown.join()}`)
  }
  connection.close()
}

/** Checks after every case: I1, I2 and I4; I3 and I5 are checked as answers come in. */
export async function checkUnharmed(ground: Ground, name: string): Promise<void> {
  await checkGood(ground, name)
  await checkKept(ground, name)
  ground.say(`${name} done`)
}

/** I3 for answers: a caller who may not read is shown no stored data. */
export function checkRefusal({ failures }: Ground, name: string, text: string): void {
  if (text.includes(canary)) failures.push(`${name}: the canary is in a refusal`)
}
