/**
 * Runs hostile cases one after the other against one vault, and checks it at the end.
 * @module
 */
import { findDamage } from '../clients/integrity.ts'
import type { PartOptions, PartResult } from '../part.ts'
import { openGround, stopServer, type Ground } from './ground.ts'

export type HostileCase = (ground: Ground) => Promise<void>

const endMs = 2_000

/** After a case has thrown, says whether the server still runs, or why it ended. */
async function sayEnd({ running, say }: Ground): Promise<void> {
  if (running === undefined) return
  const { exited, stderr } = running.server
  const exitCode = await Promise.race([exited, Bun.sleep(endMs)])
  if (exitCode === undefined) say('the server still runs')
  else say(`the server ended with ${exitCode}: ${(await stderr).slice(0, 2_000)}`)
}

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
  } catch (error) {
    await sayEnd(ground)
    throw error
  } finally {
    await ground.running?.server.end('SIGKILL')
  }
  figures['first good request after a case, longest ms'] = Math.max(...firstMs).toFixed(1)
  return { figures, failures }
}
