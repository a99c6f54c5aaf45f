/**
 * The kinds of histories, by the names under which the checker knows them.
 * @module
 */
import type { OpenWorkload } from './workload.ts'
import { openDeduplication } from './workloads/deduplication.ts'
import { openIdempotency } from './workloads/idempotency.ts'
import { openRegisters } from './workloads/registers.ts'
import { openRights } from './workloads/rights.ts'
import { openSessions } from './workloads/sessions.ts'
import { openSets } from './workloads/sets.ts'

export const kinds = [
  'register',
  'set',
  'deduplication',
  'idempotency',
  'session',
  'rights',
] as const
export type Kind = (typeof kinds)[number]

export const workloads: Readonly<Record<Kind, OpenWorkload>> = {
  register: openRegisters,
  set: openSets,
  deduplication: openDeduplication,
  idempotency: openIdempotency,
  session: openSessions,
  rights: openRights,
}
