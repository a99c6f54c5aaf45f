/**
 * One client that tries wrong keys as fast as the server takes them.
 *
 * Source: hardening.md, H126.
 * @module
 */
import type { Size } from '../part.ts'
import { startFlood } from './flood.ts'
import { fareUntil, faredText } from './good-client.ts'
import { checkUnharmed, portOf, reportStatuses, type Ground } from './ground.ts'

/** Ten seconds of the rate that the case states. */
const tries: Readonly<Record<Size, number>> = { full: 1_000_000, short: 30_000 }
const flooding = { connections: 4, depth: 64 }
const goodPace = { connections: 1, restMs: 10, asks: 'reads' } as const

/** H126. */
export async function tryKeys(ground: Ground): Promise<void> {
  const order = { ...flooding, port: portOf(ground), total: tries[ground.size] }
  const flood = startFlood(order)
  const fared = await fareUntil(ground, goodPace, flood)
  const { statuses, seconds, broken, hasLeaked } = await flood
  reportStatuses(ground, 'H126', statuses, ['401', '429'])
  if (broken > 0) ground.failures.push(`H126: ${broken} connections ended`)
  if (hasLeaked) ground.failures.push('H126: the canary is in a refusal')
  const { figures } = ground
  figures['H126: wrong keys, each 401 · in a second'] =
    `${statuses['401'] ?? 0} · ${Math.round(order.total / seconds)}`
  figures['H126: good requests meanwhile · p99, longest ms'] = faredText(fared)
  await checkUnharmed(ground, 'H126')
}
