/**
 * Hostile cases one after the other against one vault, and what must hold in the end.
 * @module
 */
import { findDamage } from '../clients/integrity.ts'
import type { PartOptions, PartResult } from '../part.ts'
import { openGround, stopServer, type Ground } from './ground.ts'

export type HostileCase = (ground: Ground) => Promise<void>

export async function runCases(
  options: PartOptions,
  cases: readonly HostileCase[],
): Promise<PartResult> {
  const ground = await openGround(options)
  const { failures, figures, firstMs, home } = ground
  try {
    for (const run of cases) {
      const startedMs = performance.now()
      await run(ground)
      ground.say(`${run.name}: ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`)
    }
    await stopServer(ground)
    failures.push(...(await findDamage(home.data)))
  } finally {
    await ground.running?.server.end('SIGKILL')
  }
  figures['first good request after a case, longest ms'] = Math.max(...firstMs).toFixed(1)
  return { figures, failures }
}
