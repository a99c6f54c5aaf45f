/**
 * The cases of hostile load with the numbers that they state, over HTTP: thousands of connections
 * and writers, a hundred thousand tokens that expire at once, a million wrong keys and a million
 * abandoned sessions, little memory. After each: a good request is answered, what was stored reads
 * back equal, and the canary is nowhere.
 *
 * Source: hardening.md, H25, H78, H80, H111, H113, H126, H161, H168.
 * @module
 */
import { openConnections } from '../hostile-load/connections.ts'
import { expireAtOnce } from '../hostile-load/expiry.ts'
import { openGround, stopServer, type Ground } from '../hostile-load/ground.ts'
import { leaveLists, listAmongWriters } from '../hostile-load/lists.ts'
import { workInLittleMemory } from '../hostile-load/memory.ts'
import { abandonSessions } from '../hostile-load/sessions.ts'
import { tryKeys } from '../hostile-load/wrong-keys.ts'
import { findDamage } from '../clients/integrity.ts'
import type { PartOptions, PartResult } from '../part.ts'

const cases: readonly ((ground: Ground) => Promise<void>)[] = [
  openConnections,
  listAmongWriters,
  leaveLists,
  tryKeys,
  expireAtOnce,
  abandonSessions,
  workInLittleMemory,
]

/** The part `hostile-load`. */
export async function loadWithHostility(options: PartOptions): Promise<PartResult> {
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
