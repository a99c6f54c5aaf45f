/**
 * Operations that the serving process runs for the operators of a vault.
 * @module
 */
import { admitted, makeChallenges } from '../../vault/operator/operator-proof.ts'
import { makeResealer } from '../../vault/operator/key-operations.ts'
import type { Facts } from '../../vault/operator/operator-operation.ts'
import { makeOperations } from '../../vault/operator/operations.ts'
import type { Deps, Log } from '../../deps.ts'
import { factsOfBackups, type BackupSchedule } from '../backup/schedule.ts'
import type { Clock } from '../process/clock.ts'
import { type ControlOperation, findIn, startControl, type Control } from './control.ts'
import type { OpenedFolder } from '../folder/data-folder.ts'
import type { Logging } from '../watch/logging.ts'
import { masterKeyReplacer } from '../keys/next-master-key.ts'
import type { Sharing } from '../process/server.ts'
import { CommandFailure } from '../process/failure.ts'
import type { SealSwitch } from '../keys/sealing.ts'
import type { Unsealer } from '../keys/unsealer.ts'

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
  const { store, keyring, masterKeyFile } = opened
  const replaceMasterKey = masterKeyReplacer({ file: masterKeyFile, isOf: keyring.isOf })
  const isShared = sharing !== undefined || opened.database !== undefined
  const server = () => factsOf(serving)
  const vault = { deps, store, keyring, clockAheadMs, server, isShared, replaceMasterKey }
  const reseal = makeResealer(vault)
  if (keyring.current().dataKeys.length > 1) {
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

/*
 * Operations of the control socket, for a vault that may be sealed.
 */

/** A vault that can be sealed and unsealed. */
export interface SealableVault<T> {
  readonly sealing: SealSwitch<T>
  readonly unsealer: Unsealer
}

/** @throws CommandFailure while it is sealed */
export function whileOpen<T>({ current }: Pick<SealSwitch<T>, 'current'>): T {
  const open = current()
  if (open === undefined) throw new CommandFailure('the vault is sealed: run coffer unseal')
  return open
}

/**
 * @param path of the socket
 * @param find returns an operation of an open vault
 * @throws CommandFailure as `startControl`
 */
export function startVaultControl<T>(
  path: string,
  { sealing, unsealer }: SealableVault<T>,
  find: (open: T, name: string) => ControlOperation | undefined,
  log: Log,
): Control {
  const findSealing = findIn<ControlOperation>({
    seal: async () => {
      await sealing.seal()
      return unsealer.status()
    },
    'seal-status': async () => unsealer.status(),
    'unseal-reset': async () => unsealer.reset(),
  })
  const findAny = (name: string): ControlOperation | undefined =>
    findSealing(name) ?? find(whileOpen(sealing), name)
  return startControl(path, findAny, log, { unseal: unsealer.take })
}
