/**
 * Operations that the serving process runs for the operators of a vault.
 * @module
 */
import { admitted, makeChallenges } from '../../vault/operator/operator-proof.ts'
import { makeResealer } from '../../vault/operator/key-operations.ts'
import type { Facts } from '../../vault/operator/operator-operation.ts'
import { makeOperations } from '../../vault/operator/operations.ts'
import type { Deps } from '../../deps.ts'
import { factsOfBackups } from '../backup/backup-facts.ts'
import type { BackupSchedule } from '../backup/schedule.ts'
import type { Clock } from '../process/clock.ts'
import type { ControlOperation } from './control.ts'
import type { OpenedFolder } from '../folder/data-folder.ts'
import type { Logging } from '../watch/logging.ts'
import { masterKeyReplacer } from '../keys/next-master-key.ts'
import type { Sharing } from '../process/server.ts'

export interface Places {
  address?: string
  opsAddress?: string | undefined
}

/** The serving process, as its operations see it. */
export interface AdministeredVault {
  /** The process to be signalled to end: of several, the one that started the others. */
  readonly processId: number
  /** Its addresses, once it listens. */
  readonly places?: Places
  readonly logging: Logging
  /** Present for one of several processes. */
  readonly sharing?: Sharing | undefined
  /** The backups that it makes, if any. */
  readonly backups?: BackupSchedule | undefined
}

/** The leading process adds the address of health checks, and its backups. */
const factsOf = ({ processId, places, backups }: AdministeredVault): Facts => ({
  process_id: processId,
  address: places?.address ?? null,
  ops_address: places?.opsAddress ?? null,
  ...factsOfBackups(backups),
})

export type Offered = Readonly<Record<string, ControlOperation>>

/**
 * Returns the operations, and finishes a rotation that was interrupted by the end of its process.
 */
export function administer(
  serving: AdministeredVault,
  opened: OpenedFolder,
  deps: Deps,
  { aheadMs: clockAheadMs }: Clock,
): Offered {
  const { sharing, logging } = serving
  const { log } = logging
  const { store, ring, masterKeyFile } = opened
  const replaceMasterKey = masterKeyReplacer({ file: masterKeyFile, isOf: ring.isOf })
  const isShared = sharing !== undefined || opened.database !== undefined
  const server = () => factsOf(serving)
  const vault = { deps, store, ring, clockAheadMs, server, isShared, replaceMasterKey }
  const reseal = makeResealer(vault)
  if (ring.keyring().dataKeys.length > 1) {
    reseal().then(
      ({ rows, damaged }) => log('resealed', { rows, damaged }),
      () => log('reseal_failed'),
    )
  }
  const challenges = makeChallenges(deps)
  const operations = Object.entries(makeOperations(vault, reseal)).map(
    ([name, operation]) => [name, admitted(vault, challenges, operation)] as const,
  )
  return { ...Object.fromEntries(operations), challenge: async () => challenges.issue() }
}
