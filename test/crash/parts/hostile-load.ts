/**
 * The cases of hostile load with their stated numbers, over HTTP: thousands of connections
 * and writers, a hundred thousand tokens that expire at once, a million wrong keys and a million
 * abandoned sessions. After each: a good request is answered, stored tokens read
 * back equal, and the canary is nowhere.
 *
 * Source: hardening H25, H78, H80, H111, H113, H126, H161.
 * @module
 */
import { openConnections } from '../hostile-load/connections.ts'
import { expireAtOnce } from '../hostile-load/expiry.ts'
import { leaveLists, listAmongWriters } from '../hostile-load/lists.ts'
import { runCases, type HostileCase } from '../hostile-load/run-cases.ts'
import { abandonSessions } from '../hostile-load/sessions.ts'
import { tryKeys } from '../hostile-load/wrong-keys.ts'
import type { Part } from '../part.ts'

const cases: readonly HostileCase[] = [
  openConnections,
  listAmongWriters,
  leaveLists,
  tryKeys,
  expireAtOnce,
  abandonSessions,
]

/** The part `hostile-load`. */
export const loadWithHostility: Part = options => runCases(options, cases)
