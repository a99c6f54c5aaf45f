/**
 * `coffer scheduled-backup`: one turn of a server that makes its own backups. Only that server
 * starts it, with an order on stdin.
 *
 * It makes a backup if one is due, and removes the oldest ones once the new one counts. It runs at
 * the lowest priority, and ends with the process that started it.
 * @module
 */
import type { Command } from 'commander'
import { constants, setPriority } from 'node:os'
import { noProgress } from '../../lib/progress.ts'
import { backupNameOf, openPlace, type BackupPlace } from '../../server/backup/backup-place.ts'
import type { BackupOrder, BackupTurn } from '../../server/backup/schedule.ts'
import { checkFolder } from '../../server/folder/data-folder.ts'
import { CommandFailure, systemCodeOf, usage } from '../../server/process/failure.ts'
import { sayJson, wallMs } from '../../server/process/system.ts'
import { endWithParent } from '../../server/process/worker.ts'
import { makeBackup } from './backup.ts'
import { newestOwnMs, surplusIn } from './own-backups.ts'

async function readOrder(): Promise<BackupOrder> {
  try {
    return JSON.parse(await Bun.stdin.text()) as BackupOrder
  } catch {
    throw usage('coffer serve --backup-to starts this: nobody else does')
  }
}

/** If the system refuses, the backup is made all the same. */
function giveWay(): void {
  try {
    setPriority(constants.priority.PRIORITY_LOW)
  } catch {
    // For example by a filter of system calls.
  }
}

/** @returns the reason of a failure: our own text, and of other errors only the code */
function failureOf(error: unknown): NonNullable<BackupTurn['failed']> {
  if (!(error instanceof CommandFailure)) return { code: systemCodeOf(error) ?? 'unexpected' }
  return { code: systemCodeOf(error.cause) ?? 'refused', reason: error.message }
}

async function removeSurplus(
  place: BackupPlace,
  keep: number,
  masterKey: Uint8Array,
): Promise<number> {
  const surplus = await surplusIn({ place, masterKey, nowMs: wallMs() }, keep)
  for (const name of surplus) await place.remove(name)
  return surplus.length
}

async function takeTurnWith(
  masterKey: Uint8Array,
  { folder, plan }: BackupOrder,
): Promise<BackupTurn> {
  const place = openPlace(plan.to, folder.data)
  place.clear()
  const startedMs = wallMs()
  const newestMs = await newestOwnMs({ place, masterKey, nowMs: startedMs })
  if (newestMs !== undefined && startedMs < newestMs + plan.everyMs) return { newestMs }
  const known = newestMs === undefined ? {} : { newestMs }
  const name = backupNameOf(startedMs)
  try {
    const { bytes } = await makeBackup(folder, place, name, noProgress)
    const turn = { newestMs: startedMs, made: { name, bytes, removed: 0 } }
    try {
      const removed = await removeSurplus(place, plan.keep, masterKey)
      return { ...turn, made: { ...turn.made, removed } }
    } catch (error) {
      return { ...turn, failed: failureOf(error) }
    }
  } catch (error) {
    return { ...known, failed: failureOf(error) }
  }
}

async function takeTurn(order: BackupOrder): Promise<BackupTurn> {
  const masterKey = checkFolder(order.folder)
  try {
    return await takeTurnWith(masterKey, order)
  } finally {
    masterKey.fill(0)
  }
}

/** Reports in one line of JSON. */
async function scheduledBackup(): Promise<void> {
  const order = await readOrder()
  endWithParent(order.parent)
  giveWay()
  // Signals that end the server also end this process, through the server.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
  const turn = await takeTurn(order).catch((error: unknown) => ({ failed: failureOf(error) }))
  sayJson(turn)
}

export function addScheduledBackup(program: Command): void {
  program
    .command('scheduled-backup', { hidden: true })
    .description('make a backup where one is due, as coffer serve --backup-to orders on stdin')
    .action(() => scheduledBackup())
}
