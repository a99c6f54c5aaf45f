/**
 * One run: a new vault, several clients on a workload of one kind, and faults meanwhile.
 * @module
 */
import { join } from 'node:path'
import { freePort, makeVault, openHome, targetOf, type Home } from '../crash/clients/server.ts'
import { drawFrom, type Draw } from '../crash/draw.ts'
import { openClient, type Client } from './client.ts'
import { endHost, startHost, strike, type Host } from './faults.ts'
import type { Operation } from './history.ts'
import { workloads } from './kinds.ts'
import type { Fault, Mode, Plan } from './plan.ts'
import type { Workload } from './workload.ts'

const workers = 3
const clientsMin = 4
const clientsMax = 8
/** Number of recorded operations, roughly; a last look at everything comes on top. */
const operationsWanted = 400
const pauseMsMax = 12
const underWayWanted = 3
/** Longest wait for a strike: by then some requests are answered, and others are further on. */
const strikeUsMax = 3_000
const strikesOf: Readonly<Record<Fault, number>> = { none: 0, kill: 5, stop: 3 }

async function openMode(folder: string, mode: Mode): Promise<Home> {
  const shared = mode === 'one' ? undefined : { port: await freePort(), workers }
  return openHome(folder, join(folder, 'data'), shared)
}

/** A strike is to hit something: at best requests that have just been sent. */
async function untilUnderWay(history: readonly Operation[], isOver: () => boolean): Promise<void> {
  const isUnderWay = (): boolean =>
    history.slice(-clientsMax).filter(({ return: back, ended = back }) => ended === undefined)
      .length >= underWayWanted
  while (!isUnderWay() && !isOver()) await Bun.sleep(0)
}

/** Timers count in milliseconds, which is as long as a request takes. */
async function waitUs(us: number): Promise<void> {
  const end = Bun.nanoseconds() + us * 1_000
  while (Bun.nanoseconds() < end) await Bun.sleep(0)
}

/** Strikes that are spread over the history. */
async function strikeAll(
  host: Host,
  { fault }: Plan,
  history: readonly Operation[],
  draw: Draw,
  isOver: () => boolean,
): Promise<void> {
  const count = strikesOf[fault]
  for (let struck = 0; struck < count; struck += 1) {
    const share = operationsWanted / (count + 1)
    const at = share * (struck + 0.5) + draw(Math.ceil(share))
    while (history.length < at && !isOver()) await Bun.sleep(1)
    if (isOver()) return
    await untilUnderWay(history, isOver)
    await waitUs(draw(strikeUsMax))
    await strike(host, fault, draw)
  }
}

async function work(client: Client, { step }: Workload, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await step(client)
    await Bun.sleep(client.draw(pauseMsMax))
  }
}

interface Scene {
  readonly host: Host
  readonly clients: readonly Client[]
  readonly workload: Workload
}

/** A client that gives up ends the others as well. */
async function loadAndStrike(scene: Scene, plan: Plan, history: Operation[], draw: Draw) {
  const { host, clients, workload } = scene
  let hasFailed = false
  let hasStruck = false
  const isOver = () => hasFailed || (hasStruck && history.length >= operationsWanted)
  const strikes = strikeAll(host, plan, history, draw, isOver).then(() => (hasStruck = true))
  const tasks = [strikes, ...clients.map(client => work(client, workload, isOver))]
  const guarded = tasks.map(task =>
    task.catch((error: unknown) => {
      hasFailed = true
      throw error
    }),
  )
  await Promise.all(guarded)
}

/** @param history receives all calls and answers, also if the run breaks off */
export async function runPlan(plan: Plan, folder: string, history: Operation[]): Promise<void> {
  const draw = drawFrom(plan.seed)
  const home = await openMode(folder, plan.mode)
  const keys = await makeVault(home)
  const target = targetOf(home)
  const open = (index: number) => openClient(index, target, history, drawFrom(plan.seed + index))
  const setup = open(0)
  const kills = plan.fault === 'kill' ? strikesOf.kill : 0
  const count = clientsMin + draw(clientsMax - clientsMin + 1)
  const clients = Array.from({ length: count }, (_, index) => open(index + 1))
  const host = await startHost(home)
  try {
    const workload = await workloads[plan.kind]({ keys, history, draw, setup, kills })
    await loadAndStrike({ host, clients, workload }, plan, history, draw)
    await workload.finish(setup)
  } finally {
    for (const client of [setup, ...clients]) client.close()
    await endHost(host)
  }
}
