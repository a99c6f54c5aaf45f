/**
 * Callers who have turns, in tests: by the number of their application.
 * @module
 */
import type { CallerOfTurns } from '../../src/lib/turn-queue.ts'

/** An application of a tenant; or one of its sessions, by its number. */
export const turnOwner = (
  application: number,
  tenantId = 'tenant',
  session = 0,
): CallerOfTurns => ({
  tenantId,
  applicationId: `application ${application}`,
  credential: { ordinal: 1_000 * application + session },
})
