/**
 * SIGTERM and its like under load: requests under way are finished, everything acknowledged is
 * kept, and the exit code is 0.
 *
 * Source: hardening H164, H165.
 * @module
 */
import { drainMsMax } from '../../../src/limits/operation-limits.ts'
import { unavailable } from '../clients/client.ts'
import { breachesOf, ledgerFigures, readyFigures } from '../clients/figures.ts'
import { findDamage } from '../clients/integrity.ts'
import { addToken, takeOp } from '../clients/ledger.ts'
import { acknowledge, begin } from '../clients/register.ts'
import {
  check,
  load,
  openScene,
  start,
  startToReady,
  untilAcknowledged,
  useScene,
  type Scene,
} from '../clients/scene.ts'
import { startServer, type Ended, type Server } from '../clients/server.ts'
import { bodyOf } from '../clients/work-tokens.ts'
import type { PartOptions, PartResult, Size } from '../part.ts'

const runs: Readonly<Record<Size, number>> = { full: 50, short: 4 }
const writesMax = 600
/** Longest time between the first signal and the second. */
const secondMsMax = 20
/** Time and writes between a slow request and the signal; longest time from then to its end. */
const slowLeadMs = 100
const slowLeadWrites = 200
const slowLagMsMax = 500

/** One way to end the server. */
interface Way {
  readonly name: string
  readonly heedsStdout: boolean
  readonly signal: (server: Server, scene: Scene) => Promise<Ended>
}

const sendTwice = async (server: Server, { draw }: Scene): Promise<Ended> => {
  const ended = server.stop('SIGTERM')
  await Bun.sleep(draw(secondMsMax))
  await server.stop('SIGTERM')
  return ended
}

const ways: readonly Way[] = [
  { name: 'SIGTERM', heedsStdout: true, signal: server => server.stop('SIGTERM') },
  { name: 'SIGTERM twice', heedsStdout: true, signal: sendTwice },
  { name: 'SIGINT', heedsStdout: true, signal: server => server.stop('SIGINT') },
  { name: 'stdout closed', heedsStdout: false, signal: server => server.stop('SIGTERM') },
]

interface Totals {
  readonly byWay: Map<string, number>
  longestMs: number
  /** Slow creates that were under way at the signal and were acknowledged. */
  finished: number
  readonly failures: string[]
}

interface SlowCreate {
  /** Sends the rest of the body. */
  readonly release: () => void
  /** Resolves once the request was answered, or never will be. */
  readonly ended: Promise<void>
}

/** Sends a create with half its body before the signal: it is under way, and must be finished. */
function createSlowly(scene: Scene, totals: Totals): SlowCreate {
  const { ledger, home, keys } = scene
  const token = addToken(ledger, `slow${takeOp(ledger)}`, 'token')
  const op = takeOp(ledger)
  begin(token.register, op)
  const text = JSON.stringify(bodyOf(token, op, ledger.round))
  const rest = Promise.withResolvers<void>()
  async function* parts(): AsyncGenerator<string> {
    yield text.slice(0, text.length / 2)
    await rest.promise
    yield text.slice(text.length / 2)
  }
  const headers = { 'svc-api-key': keys.private, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: parts(), unix: home.socket }
  const ended = fetch('http://localhost/tokens', init)
    .then(async answer => {
      const body = await answer.text()
      if (answer.status !== 201) throw new Error(body)
      acknowledge(token.register, op)
      totals.finished += 1
    })
    .catch((error: unknown) => {
      totals.failures.push(`a create under way was not finished: ${String(error)}`)
    })
  return { release: rest.resolve, ended }
}

async function terminate(scene: Scene, totals: Totals, way: Way): Promise<void> {
  const { draw, home } = scene
  const server = way.heedsStdout ? start(scene) : (scene.server = startServer(home, false))
  await server.isReady
  let slow: SlowCreate | undefined
  const ends = async (): Promise<void> => {
    await untilAcknowledged(scene, draw(writesMax))
    slow = createSlowly(scene, totals)
    await Bun.sleep(slowLeadMs)
    // Once these later writes are acknowledged, the slow request has arrived too, on any machine.
    await untilAcknowledged(scene, slowLeadWrites)
  }
  const stop = async (): Promise<void> => {
    const startedMs = performance.now()
    const ended = way.signal(server, scene)
    await Bun.sleep(draw(slowLagMsMax))
    slow?.release()
    const { exitCode, signal, stderr } = await ended
    const ms = performance.now() - startedMs
    totals.longestMs = Math.max(totals.longestMs, ms)
    if (ms > drainMsMax) totals.failures.push(`${way.name}: took ${Math.round(ms)} ms`)
    if (exitCode === 0) return
    totals.failures.push(`${way.name}: ended with ${exitCode ?? signal}: ${stderr.slice(0, 200)}`)
  }
  await load(scene, { ends, stop, tolerated: [unavailable] })
  await slow?.ended
  totals.byWay.set(way.name, (totals.byWay.get(way.name) ?? 0) + 1)
}

async function runAll(scene: Scene, { size, say }: PartOptions): Promise<PartResult> {
  const totals: Totals = { byWay: new Map(), longestMs: 0, finished: 0, failures: [] }
  for (let count = 0; count < runs[size]; count += 1) {
    const way = ways[count % ways.length]
    if (way !== undefined) await terminate(scene, totals, way)
    const server = await startToReady(scene)
    await check(scene, count + 1 === runs[size])
    await server.stop()
    if ((count + 1) % 10 === 0) say(`${count + 1} runs`)
  }
  const damage = await findDamage(scene.home.data)
  const figures = {
    ...Object.fromEntries([...totals.byWay].map(([name, count]) => [`runs: ${name}`, count])),
    'slow creates under way that were acknowledged': totals.finished,
    'longest from signal to end, ms': Math.round(totals.longestMs),
    ...ledgerFigures(scene.ledger),
    ...readyFigures(scene.readyMs),
  }
  return { figures, failures: [...breachesOf(scene.ledger), ...totals.failures, ...damage] }
}

/** The part `terminate`. */
export async function terminateServer(options: PartOptions): Promise<PartResult> {
  const scene = await openScene(options.seed, options.folder)
  return useScene(scene, () => runAll(scene, options))
}
