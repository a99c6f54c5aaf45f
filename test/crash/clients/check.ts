/**
 * The check after a restart: everything touched since the last one and a sample of the rest; at
 * the end everything.
 * @module
 */
import { pick, takeAny, type Draw } from '../draw.ts'
import { checkApplication, checkApplications, checkSession } from './check-credentials.ts'
import { checkIds, checkRound, checkSearch, walkAll } from './check-lists.ts'
import {
  checkEqual,
  checkGroups,
  checkNameless,
  checkReplay,
  checkShared,
  checkToken,
  takeOver,
} from './check-tokens.ts'
import type { Client } from './client.ts'
import type { Ledger, Session } from './ledger.ts'

const sample = 10
const credentialSample = 2

/** The clients take items one by one until none is left. */
async function share<T>(
  clients: readonly Client[],
  items: readonly T[],
  look: (client: Client, item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const lookOn = async (client: Client): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at]
      if (item !== undefined) await look(client, item)
    }
  }
  await Promise.all(clients.map(lookOn))
}

const drawSome = <T>(draw: Draw, items: readonly T[], count: number): T[] =>
  [
    ...new Set(Array.from({ length: Math.min(count, items.length) }, () => pick(draw, items))),
  ].filter(item => item !== undefined)

async function checkTokens(clients: readonly Client[], ledger: Ledger, all: boolean) {
  const [first] = clients
  if (first === undefined) return
  const { draw } = first
  const { live, gone } = ledger
  const others = all ? [...live, ...gone] : [live, gone].flatMap(of => drawSome(draw, of, sample))
  const due = [...ledger.touched, ...takeOver(ledger), ...others]
  await share(clients, [...new Set(due)], checkToken)
  checkGroups(ledger)
  await share(clients, [...ledger.nameless], checkNameless)
  await share(clients, ledger.shared, checkShared)
  await share(clients, [...ledger.equals.values()], checkEqual)
  const touched = [...ledger.touched]
  ledger.touched.clear()
  const count = ledger.round - ledger.checkedRound
  const rounds = Array.from({ length: count }, (_, at) => ledger.round - at)
  ledger.checkedRound = ledger.round
  await share(clients, rounds, (client, round) => checkRound(client, round, touched))
  await checkIds(first, touched)
  await checkSearch(first, touched)
}

async function checkApplicationsAll(clients: readonly Client[], ledger: Ledger, all: boolean) {
  const [first] = clients
  if (first === undefined) return
  const { goneApplications: gone } = ledger
  const others = all ? gone : drawSome(first.draw, gone, credentialSample)
  await share(clients, [...new Set([...ledger.touchedApplications, ...others])], checkApplication)
  ledger.touchedApplications.clear()
  await checkApplications(first)
}

/** Checks expired sessions once, then forgets them. */
async function checkSessions(clients: readonly Client[], ledger: Ledger, all: boolean) {
  const nowMs = Date.now()
  const over = ledger.sessions.filter(({ expiresAtMs }) => expiresAtMs < nowMs)
  const running = ledger.sessions.filter(({ expiresAtMs }) => expiresAtMs >= nowMs)
  ledger.sessions.splice(0, Infinity, ...running)
  const draw = clients[0]?.draw
  const some = (of: readonly Session[]) =>
    all || draw === undefined ? of : drawSome(draw, of, credentialSample)
  const due = new Set([...ledger.touchedSessions, ...some(over), ...some(running)])
  await share(clients, [...due], checkSession)
  ledger.touchedSessions.clear()
}

/** Repeats some creates under an idempotency key, answered and unanswered ones. */
async function checkReplays(clients: readonly Client[], ledger: Ledger, all: boolean) {
  const [first] = clients
  if (first === undefined) return
  const count = all ? ledger.replays.length : credentialSample
  const replays = Array.from({ length: count }, () => takeAny(first.draw, ledger.replays))
  const due = replays.filter(replay => replay !== undefined)
  await share(clients, due, checkReplay)
}

/** @param all checks everything, not only touched items, and walks all tokens */
export async function checkLedger(
  clients: readonly Client[],
  ledger: Ledger,
  all: boolean,
): Promise<void> {
  const [first] = clients
  if (first === undefined) return
  await checkTokens(clients, ledger, all)
  await checkApplicationsAll(clients, ledger, all)
  await checkSessions(clients, ledger, all)
  await checkReplays(clients, ledger, all)
  if (all) await walkAll(first)
}
